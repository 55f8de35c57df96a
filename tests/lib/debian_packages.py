"""Downloads packages of any Debian release from the mirror of this machine's apt, without changing this machine."""
import os
import pathlib
import re
import subprocess

KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
FOLDERS = ("lists/partial", "cache/archives/partial", "sources")
UPDATE_BOUND_S, DOWNLOAD_BOUND_S, QUERY_BOUND_S = 300, 300, 60
PARTS = re.compile(r"linux-(?:image|binary|modules)-\S+")  # matches names of packages that contain parts of a kernel
ONLY_DEPENDS = [f"--no-{kind}" for kind in ("recommends", "suggests", "conflicts", "breaks", "replaces", "enhances")]


def find_mirror():
    """Return the address of the Debian mirror that this machine's apt uses, or None."""
    lists = pathlib.Path("/etc/apt")
    texts = [path.read_text() for path in [*lists.glob("sources.list"), *lists.glob("sources.list.d/*")]]
    return next((word for text in texts for word in text.split() if word.rstrip("/").endswith("/debian")), None)


def _run(*words, timeout, **more):
    done = subprocess.run([os.fspath(word) for word in words], check=True, capture_output=True, timeout=timeout, **more)
    return done.stdout.decode()


class Release:
    """The packages of a Debian release. The release of this machine needs no SUITE and no FOLDER. For another release,
    FOLDER gets the package lists of SUITE."""

    def __init__(self, suite=None, folder=None):
        self._environment = dict(os.environ)
        if suite:
            self._environment["APT_CONFIG"] = str(self._configure(suite, folder))
            _run("apt-get", "-q", "update", timeout=UPDATE_BOUND_S, env=self._environment)

    @staticmethod
    def _configure(suite, folder):
        """Write a configuration of apt for SUITE to FOLDER. Return its path."""
        mirror = find_mirror()
        if not mirror:
            raise ValueError("the sources of this machine's apt name no mirror of Debian")
        folder = folder.resolve()
        for name in FOLDERS:
            (folder / name).mkdir(parents=True, exist_ok=True)
        keys = f" [signed-by={KEYS}]" if os.path.exists(KEYS) else ""
        (folder / "sources/sources.list").write_text(f"deb{keys} {mirror} {suite} main\n")
        settings = {"Dir::Etc::sourcelist": folder / "sources/sources.list", "Dir::Etc::sourceparts": "/dev/null",
                    "Dir::State::lists": folder / "lists", "Dir::State::status": "/dev/null", "Dir::Cache": folder / "cache",
                    "Acquire::Languages": "none"}
        path = folder / "apt.conf"
        path.write_text("".join(f'{name} "{value}";\n' for name, value in settings.items()))
        return path

    def unpack_kernel(self, package, folder):
        """Do the same as unpack() for PACKAGE, a kernel's package without a version, and the packages with its parts."""
        depends = _run("apt-cache", "depends", "--recurse", *ONLY_DEPENDS, package, timeout=QUERY_BOUND_S, env=self._environment)
        return self.unpack(filter(PARTS.fullmatch, depends.splitlines()), folder)

    def unpack(self, packages, folder):
        """Download PACKAGES without their dependencies. Unpack them into the new folder `tree` in FOLDER, and return this
        folder."""
        _run("apt-get", "download", *packages, cwd=folder, timeout=DOWNLOAD_BOUND_S, env=self._environment)
        tree = folder / "tree"
        for path in folder.glob("*.deb"):
            _run("dpkg-deb", "-x", path, tree, timeout=DOWNLOAD_BOUND_S)
            path.unlink()
        return tree


def find_kernel_image(tree):
    """Return the path of the kernel in TREE. A file in /boot is preferred, because Debian sid's packages have none."""
    images = [*tree.glob("boot/vmlinuz-*")] or [*tree.glob("usr/lib/modules/*/vmlinuz")]
    if len(images) != 1:
        raise ValueError(f"the packages have {len(images)} kernels")
    return images[0]
