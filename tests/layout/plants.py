"""Planted violations: for each rule, trees that it must complain about, file by file, and one
clean tree in which no rule may find anything."""

CLEAN = {
    "include/holdfast/a.hpp": "#pragma once\n\n#include <string>\n\n#include <holdfast/b.hpp>\n",
    "include/holdfast/b.hpp": "#pragma once\n",
    "src/CMakeLists.txt": "include/holdfast/a.hpp\n${root}/include/holdfast/b.hpp\n",
    "src/core/CMakeLists.txt": "holdfast_part(core\n    engine.cpp)\n",
    "src/core/engine.cpp": (
        '#include "core/engine.hpp"\n\n#include <vector>\n\n#include <holdfast/a.hpp>\n\n'
        '#include "support/planted.hpp"\n\n// TODO(#7): say "std::cerr" less\n'
        "class engine {\n    void run() {}\n};\n"
    ),
    "src/core/engine.hpp": "#pragma once\n",
    "src/support/planted.hpp": "#pragma once\n",
    "src/stores/CMakeLists.txt": "sqlite/store.cpp\n",
    "src/stores/sqlite/store.cpp": (
        "#include <fcntl.h>\n#include <sqlite3.h>\n#include <sys/stat.h>\n"
        "#include <boost/asio.hpp>\n"
        '#include "runtime/loop.hpp"\n#include "stores/lease_table/lease_table.hpp"\n'
    ),
    "cli/CMakeLists.txt": "foreach(name main)\n",
    "cli/main.cpp": '#include <CLI/CLI.hpp>\n#include <holdfast/a.hpp>\n#include "output.hpp"\n',
    "cli/output.hpp": "#pragma once\n",
    "docs/page.md": "[the other](other.md#part), [web](https://example.org)\n",
    "docs/other.md": "Text.\n\n```cpp\nf();\ng();\n```\n",
    "examples/CMakeLists.txt": "one.cpp\n",
    "examples/one.cpp": "int main() {\n    f();\n    g();\n}\n",
}


def including(path, *headers):
    """One plant per header: the file, including it."""
    guard = "#pragma once\n" if path.endswith(".hpp") else ""
    return [{path: f"{guard}#include {header}\n"} for header in headers]


def saying(path, *statements):
    return [{path: f"{statement}\n"} for statement in statements]


LONG_BODY = "    step();\n" * 70

PLANTS = {
    "layers": [
        *including("include/holdfast/a.hpp", "<boost/asio.hpp>", "<unistd.h>",
                   '"core/engine.hpp"'),
        *including("src/support/a.hpp", "<boost/asio.hpp>", '"core/engine.hpp"',
                   '"runtime/loop.hpp"'),
        *including("src/core/a.hpp", "<sys/socket.h>", "<poll.h>", "<unistd.h>", "<time.h>",
                   "<boost/asio.hpp>", '"runtime/loop.hpp"', '"kinds/mutex.hpp"',
                   '"stores/memory/store.hpp"', '"session/session.hpp"'),
        *including("src/kinds/a.cpp", '"runtime/loop.hpp"', '"stores/memory/store.hpp"'),
        *including("src/runtime/a.cpp", '"core/engine.hpp"', '"stores/memory/store.hpp"',
                   "<sqlite3.h>"),
        *including("src/session/a.cpp", '"stores/sqlite/store.hpp"', '"kinds/mutex.hpp"'),
        *including("src/testing/a.cpp", '"stores/sqlite/store.hpp"', "<boost/asio.hpp>"),
        *including("src/stores/lease_table/a.cpp", '"runtime/loop.hpp"', "<unistd.h>"),
        *including("src/stores/memory/a.cpp", '"stores/sqlite/store.hpp"', '"core/engine.hpp"',
                   '"kinds/mutex.hpp"', "<sqlite3.h>", "<hiredis/hiredis.h>"),
        *including("src/stores/sqlite/a.cpp", '"../memory/store.hpp"',
                   '"stores/memory/store.hpp"'),
        *including("src/unknown/a.cpp", "<vector>"),
        *including("src/stores/unknown/a.cpp", "<vector>"),
        *including("cli/a.cpp", '"core/engine.hpp"', '"../src/core/engine.hpp"', "<sqlite3.h>"),
        *including("examples/a.cpp", '"runtime/loop.hpp"'),
    ],
    "words": [
        *saying("src/core/a.cpp", "auto t = std::chrono::system_clock::now();",
                "auto t = std::chrono::steady_clock::now();", "auto t = boot_clock::now();",
                "int n = rand();",
                'std::cerr << "x";', 'printf("x");', "std::this_thread::sleep_for(1s);"),
        *saying("tests/unit/a.cpp", "std::this_thread::sleep_for(1s);", "usleep(10);",
                "::sleep(1);", "std::this_thread::sleep_until(t);"),
        *saying("cli/a.cpp", "srand(1);"),
    ],
    "open-ends": saying("src/core/a.cpp", "// TODO: later", "/* TODO(soon): later */",
                        "// it's a FIXME, isn't it"),
    "file-size": [{"src/core/a.cpp": "int a;\n" * 601}, {"tests/unit/a.cpp": "int a;\n" * 601}],
    "function-size": [
        {"src/core/a.cpp": "void f() {\n" + LONG_BODY + "}\n"},
        {"src/core/a.cpp": "namespace n {\nclass c {\n  public:\n    template <class T>\n"
                           "    T f(int a) const {\n" + LONG_BODY + "    }\n};\n}\n"},
        {"src/core/a.cpp": "auto u = f(\"x://{\", '}', 1'000);  // it's }\nvoid f() {\n" + LONG_BODY
                           + "}\n"},
        {"tests/unit/a.cpp": "TEST(a, b) {\n    if (x) {\n" + LONG_BODY + "    }\n}\n"},
    ],
    "lines": [
        {"src/core/a.cpp": "// " + "x" * 98 + "\n"},
        {"src/core/a.cpp": "int a; \n"},
        {"src/core/a.cpp": "\tint a;\n"},
        {"docs/page.md": "no newline"},
        {"docs/page.md": "two newlines\n\n"},
    ],
    "header-guard": [{"src/core/a.hpp": "// A header.\nint a;\n"}],
    "kinds": [{"locks.db": ""}, {"src/core/engine.o": ""}, {"tests/core": ""}],
    "listed": [
        {"src/core/a.cpp": "int a;\n"},
        {"src/core/gine.cpp": "int a;\n"},
        {"include/holdfast/c.hpp": "#pragma once\n"},
        {"tests/unit/test_a.cpp": "int a;\n"},
    ],
    "examples": [{"README.md": "```cpp\nf();\nh();\n```\n"},
                 {"docs/other.md": "```cpp\nf();\n```\n\nand\n\n```cpp\nf(\n```\n"}],
    "links": [{"docs/page.md": "see [this](missing.md)\n"},
              {"docs/a/page.md": "see [this](other.md)\n"}],
}
