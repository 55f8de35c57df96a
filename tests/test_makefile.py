"""The build itself, where it stands."""
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """The sources in a folder whose name has a blank."""
    folder = tmp_path_factory.mktemp("build") / "with a blank"
    shutil.copytree(ROOT, folder, ignore=lambda at, _: {"build", ".git"} if at == str(ROOT) else set())
    return folder


@pytest.mark.parametrize("targets", [
    ["build/efi/src/base/text.o", "build/efi/boot/main.o", "build/efi/boot/page.o", "build/host/src/base.a"],
    pytest.param(["all", "image", "build/baretick-skew.efi", "build/unit/base/test_text", "build/fuzz/fuzz_options"],
                 marks=pytest.mark.long),
], ids=["parts", "all"])
def test_it_builds_in_a_folder_with_a_blank_in_its_name(elsewhere, targets):
    done = subprocess.run(["make", "NO_INSTALL=1", *targets], cwd=elsewhere, capture_output=True, text=True, timeout=600,
                          env={**os.environ, "MAKEFLAGS": ""})
    assert done.returncode == 0, done.stdout + done.stderr
    assert all((elsewhere / target).is_file() for target in targets if "/" in target)
