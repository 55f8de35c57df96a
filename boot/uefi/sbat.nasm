;
; The section .sbat, by which a shim can refuse versions that were revoked. Each line, by shim's SBAT.md: component, its
; generation, vendor, package, version, address. The generation is raised by one with each release that mends what
; Secure Boot was to keep out. baretick has no address; shim wants six fields that are not empty. VERSION is the
; Makefile's.
;
section .sbat progbits alloc noexec nowrite align=1

	db "sbat,1,SBAT Version,sbat,1,https://github.com/rhboot/shim/blob/main/SBAT.md", 10
	db "baretick,1,the baretick authors,baretick,", VERSION, ",none", 10
