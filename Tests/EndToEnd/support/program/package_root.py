"""This machine as a package finds it: its files below an overlay that ends with the test, processes of its own, and no
systemd that runs."""

import contextlib
import os
import shutil
import subprocess

from waiting import patience

# What is written lies in memory; /mnt has the packages.
OUTER = """
mount -t tmpfs none "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
mount -t proc proc "$1/root/proc"
mount --rbind /dev "$1/root/dev"
for folder in run tmp; do mount -t tmpfs -o mode=1777 none "$1/root/$folder"; done
mount --bind "$2" "$1/root/mnt"
mkdir -p "$1/root/run/lock"
echo ready
exec cat
"""
TOOLS_OF_SYSTEMD = ("systemctl", "systemd-sysusers", "systemd-tmpfiles", "deb-systemd-helper", "deb-systemd-invoke")


def missing():
    """Why there can be none here; None if there can."""
    if os.geteuid() != 0:
        return "only root mounts an overlay, and installs packages in it"
    for tool in ("dpkg", "dpkg-shlibdeps", "unshare", "nsenter"):
        if not shutil.which(tool):
            return f"{tool} is not installed"
    tried = subprocess.run(
        ["unshare", "--mount", "sh", "-ec", 'mount -t tmpfs n /mnt; cd /mnt; mkdir u w m; '
         "mount -t overlay o -o lowerdir=/,upperdir=u,workdir=w m"], capture_output=True, text=True,
    )  # fmt: skip
    return f"no overlay can be mounted: {tried.stderr.strip()}" if tried.returncode else None


class PackageRoot:
    def __init__(self, place, packages):
        self.root = place / "root"
        self.holder = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", OUTER, "sh", place, packages],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert self.holder.stdout.readline() == b"ready\n", "the overlay could not be mounted"
        with open(f"/proc/{self.holder.pid}/task/{self.holder.pid}/children") as children:
            self.first = children.read().strip()
        # The index of all this machine's manual pages is of no interest here, nor is its disk.
        self.run("rm", "-f", "/var/lib/man-db/auto-update")
        self.run("sh", "-c", "echo force-unsafe-io >/etc/dpkg/dpkg.cfg.d/tests")
        # A user of this machine, or a package, would be another story.
        self.run("dpkg", "--purge", "portcullis-dev", "portcullis")
        self.run("sh", "-c", "! getent passwd portcullis || userdel portcullis")

    def run(self, *words, expected=0, **environment):
        """What a command in there writes, standard error included; anything but the expected exit status is a failure."""
        done = subprocess.run(
            ["nsenter", "--target", self.first, "--mount", "--pid", "chroot", self.root, *words],
            env={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8",
                 "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive", **environment},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=patience(300),
        )  # fmt: skip
        assert done.returncode == expected, f"{words}: exit status {done.returncode}\n{done.stdout}"
        return done.stdout

    def forget_systemd(self):
        """As on a machine that has never had it."""
        for tool in TOOLS_OF_SYSTEMD:
            self.run("sh", "-c", f"! found=$(command -v {tool}) || rm -f $(readlink -f $found) $found")
            self.run("sh", "-c", f"command -v {tool}", expected=127)

    def pretend_systemd(self, active):
        """A systemd that runs, and notes what it is told: `told_systemd`."""
        script = f'#!/bin/sh\necho "$*" >>/tmp/told\ncase "$*" in *is-active*) exit {0 if active else 3} ;; esac\n'
        self.run("mkdir", "-p", "/run/systemd/system", "/usr/local/bin")
        self.run("sh", "-c", 'printf %s "$1" >/usr/local/bin/systemctl', "sh", script)
        self.run("chmod", "755", "/usr/local/bin/systemctl")
        self.run("touch", "/tmp/told")
        # An image made for containers has one, by which services are not even stopped.
        self.run("rm", "-f", "/usr/sbin/policy-rc.d")

    def told_systemd(self):
        told = self.run("cat", "/tmp/told").splitlines()
        self.run("truncate", "--size=0", "/tmp/told")
        return told

    def processes(self):
        """The names of those that run in there, without the one that asks."""
        return set(self.run("sh", "-c", "cat /proc/[0-9]*/comm").split()) - {"sh", "cat"}

    def close(self):
        # The overlay ends with its last process.
        with contextlib.suppress(BrokenPipeError):
            self.holder.stdin.close()
        self.holder.wait(patience(60))
        self.holder.stdout.close()
