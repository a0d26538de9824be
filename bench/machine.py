"""What the figures were measured on. Place: bench."""
import mmap
import os
import platform
import re
import subprocess


def first_match(path, pattern):
    try:
        with open(path, encoding="utf-8") as file:
            found = re.search(pattern, file.read(), re.MULTILINE)
    except OSError:
        return None
    return found and found[1]


def file_system(folder):
    """Name of the file system and the device under it, of the mount with the longest matching path."""
    best = ("", "?", "?")
    with open("/proc/mounts", encoding="utf-8") as file:
        for line in file:
            device, mount, name = line.split()[:3]
            inside = mount == "/" or folder == mount or folder.startswith(mount + "/")
            if inside and len(mount) >= len(best[0]):
                best = (mount, name, device)
    return f"{best[1]} on {os.path.basename(best[2])}"


def touch_free_memory():
    """Uses all free memory once and gives it back. The host of a virtual machine takes back what lies idle for seconds (free page
    reporting), and whoever uses it next pays for it: that must not be one of two commands that are compared."""
    kib = first_match("/proc/meminfo", r"^MemFree:\s+(\d+)")
    count = int(kib or 0) * 1024 - (512 << 20)
    if count <= 0:
        return
    with mmap.mmap(-1, count) as memory:
        if hasattr(mmap, "MADV_HUGEPAGE"):
            memory.madvise(mmap.MADV_HUGEPAGE)
        for offset in range(0, count, mmap.PAGESIZE):
            memory[offset] = 1


def load():
    return " ".join(f"{number:.2f}" for number in os.getloadavg())


def describe(command, folder):
    version = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    kib = first_match("/proc/meminfo", r"^MemTotal:\s+(\d+)")
    return {
        "onnxport": version.replace("onnxport ", ""),
        "processor": first_match("/proc/cpuinfo", r"^model name\s*:\s*(.+)$") or platform.machine(),
        "processors": len(os.sched_getaffinity(0)),
        "memory_gib": round(int(kib) / (1 << 20), 1) if kib else None,
        "system": f"{platform.system()} {platform.release()}, {' '.join(platform.libc_ver())}",
        "file_system": file_system(os.path.realpath(folder)),
        "python": platform.python_version(),
    }
