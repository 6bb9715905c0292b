"""Writes static libraries that stand in for NVIDIA's while linking, so that one binary starts with or without CUDA.

    python scripts/cuda_shims.py TOOLKIT OUT

TOOLKIT is the folder `nvidia/cu13` of the toolkit's wheels, OUT becomes the only library folder that the linker sees. Each public
function becomes a stub: its first call opens the real library, finds the function and jumps there; later calls jump at once.
A stub whose library is absent prints what is missing and aborts, so a program must look for the libraries first (src/score/device.rs).
x86-64 Linux only. Needs nm, cc and ar.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import tempfile

# Library name at link time -> name at run time.
SONAMES = {
    "cuda": "libcuda.so.1",
    "cublas": "libcublas.so.13",
    "cublasLt": "libcublasLt.so.13",
    "curand": "libcurand.so.10",
    "nvrtc": "libnvrtc.so.13",
}

RESOLVER = """\
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

extern void *shim_{name}_table[] __attribute__((visibility("hidden")));
static const char *const names[] = {{{names}}};

__attribute__((visibility("hidden"))) void *shim_{name}_resolve(long i) {{
  static void *library;
  if (!library) library = dlopen("{soname}", RTLD_NOW | RTLD_GLOBAL);
  if (!library) {{ fprintf(stderr, "%s\\n", dlerror()); abort(); }}
  void *found = dlsym(library, names[i]);
  if (!found) {{ fprintf(stderr, "%s\\n", dlerror()); abort(); }}
  return shim_{name}_table[i] = found;
}}
"""

# The arguments of the call under way live in these registers; finding the function must not disturb them. On entry the stack is 16n+8
# past the caller's return address and the pushed number: seven more words and 136 bytes bring it to a multiple of 16.
SLOW = """\
.text
shim_{name}_slow:
{save_words}
  sub $136, %rsp
{save_vectors}
  mov 192(%rsp), %rdi
  call shim_{name}_resolve
  mov %rax, %r11
{load_vectors}
  add $136, %rsp
{load_words}
  add $8, %rsp
  jmp *%r11
"""

STUB = """\
.globl {function}
.type {function}, @function
{function}:
  mov shim_{name}_table+{offset}(%rip), %r11
  test %r11, %r11
  jz 1f
  jmp *%r11
1:
  push ${index}
  jmp shim_{name}_slow
"""

WORDS = ["rdi", "rsi", "rdx", "rcx", "r8", "r9", "rax"]


def functions_of(library):
    """Public functions of a shared library, without the versions that the linker appends."""
    listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    rows = (line.split() for line in listed.splitlines())
    return sorted({row[2].split("@")[0] for row in rows if len(row) == 3 and row[1] in "TW"})


def driver_functions(header):
    """The driver comes with the driver, not with the toolkit: its functions are those that the header declares."""
    text = header.read_text()
    declared = set(re.findall(r"CUDAAPI\s+(cu\w+)\s*\(", text))
    # `#define cuCtxCreate cuCtxCreate_v2`: both names are asked for.
    renamed = set(re.findall(r"#\s*define\s+cu\w+\s+(cu\w+_v\d+)\b", text))
    per_thread = {f"{name}_ptsz" for name in declared | renamed}
    return sorted(declared | renamed | per_thread)


def library_of(toolkit, soname):
    found = sorted(toolkit.rglob(soname))
    if not found:
        raise SystemExit(f"{soname} is not under {toolkit}")
    return found[0]


def write_archive(name, functions, out):
    save = "\n".join(f"  push %{word}" for word in WORDS)
    load = "\n".join(f"  pop %{word}" for word in reversed(WORDS))
    vectors = [(16 * i, i) for i in range(8)]
    slow = SLOW.format(
        name=name,
        save_words=save,
        load_words=load,
        save_vectors="\n".join(f"  movups %xmm{i}, {at}(%rsp)" for at, i in vectors),
        load_vectors="\n".join(f"  movups {at}(%rsp), %xmm{i}" for at, i in vectors),
    )
    stubs = "".join(
        STUB.format(name=name, function=function, offset=8 * index, index=index) for index, function in enumerate(functions)
    )
    table = f".bss\n.balign 8\n.globl shim_{name}_table\n.hidden shim_{name}_table\nshim_{name}_table: .skip {8 * len(functions)}\n"
    note = '.section .note.GNU-stack,"",@progbits\n'
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "stubs.s").write_text(table + slow + stubs + note)
        quoted = ", ".join(f'"{function}"' for function in functions)
        (work / "resolve.c").write_text(RESOLVER.format(name=name, soname=SONAMES[name], names=quoted))
        subprocess.run(["cc", "-O2", "-fPIC", "-c", "stubs.s", "resolve.c"], cwd=work, check=True)
        archive = out / f"lib{name}.a"
        archive.unlink(missing_ok=True)
        subprocess.run(["ar", "rcs", archive.resolve(), "stubs.o", "resolve.o"], cwd=work, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("toolkit", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for name, soname in SONAMES.items():
        if name == "cuda":
            functions = driver_functions(args.toolkit / "include" / "cuda.h")
        else:
            functions = functions_of(library_of(args.toolkit, soname))
        write_archive(name, functions, args.out)
        print(f"{name}: {len(functions)} functions")
    # This one is static already and looks for the driver only when it is used.
    shutil.copyfile(library_of(args.toolkit, "libcudart_static.a"), args.out / "libcudart.a")


main()
