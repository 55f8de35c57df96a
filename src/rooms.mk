# The folders of this layer. Each may use the folders that are listed after it, and all folders that these may use.
# tests/test_rooms.py compares the #include lines of each file and the symbols of each object file with this list.
USES_src/base            :=
USES_src/clock           := src/base
USES_src/record          := src/clock
USES_src/stats           := src/clock
USES_src/consensus       := src/clock
USES_src/sync            := src/consensus
USES_src/options         := src/base
USES_src/network         := src/options
USES_src/report          := src/stats src/sync src/options
USES_src/rules           := src/report
USES_src/analysis        := src/report src/record
USES_src/measure         := src/analysis
USES_src/measure/clocks  := src/measure
USES_src/measure/rates   := src/measure
USES_src/measure/skew    := src/measure
USES_src/measure/timers  := src/measure src/analysis
USES_src/measure/sleep   := src/measure
USES_src/judge/cores     := src/rules
USES_src/judge/timers    := src/rules
USES_src/judge/firmware  := src/rules
USES_src/judge           := src/judge/cores src/judge/timers src/judge/firmware
USES_src/judge/coverage  := src/judge
USES_src/advice          := src/rules
USES_src/render/layout   := src/report
USES_src/render/cores    := src/render/layout
USES_src/render/sections := src/render/cores src/rules
USES_src/render/text     := src/render/sections
USES_src/render/screen   := src/render/text
USES_src/render/fields   := src/rules
USES_src/render/json     := src/render/fields
USES_src/render/csv      := src/render/fields
USES_src/analysis/sleep  := src/analysis
USES_src/replay          := src/analysis src/analysis/sleep src/judge src/judge/coverage src/advice
USES_src/run             := src/measure/clocks src/measure/rates src/measure/skew src/measure/timers src/measure/sleep src/replay

ROOMS += src/base src/record src/clock src/stats src/consensus src/sync src/options src/network src/report src/rules \
         src/analysis src/analysis/sleep src/measure src/measure/clocks src/measure/rates src/measure/skew src/measure/timers src/measure/sleep \
         src/judge/cores src/judge/timers src/judge/firmware src/judge src/judge/coverage src/advice \
         src/render/layout src/render/cores src/render/sections src/render/text src/render/screen \
         src/render/fields src/render/json src/render/csv src/replay src/run
