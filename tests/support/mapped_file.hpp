// A plain structure in a file that several processes map. Zero at first.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace holdfast::tests {

template <class Content>
Content* map_file(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ::ftruncate(fd, sizeof(Content)) != 0) {
        throw std::system_error(errno, std::system_category(), path);
    }
    void* at = ::mmap(nullptr, sizeof(Content), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ::close(fd);
    if (at == MAP_FAILED) throw std::system_error(errno, std::system_category(), path);
    return static_cast<Content*>(at);
}

template <class Content>
void unmap(Content* content) {
    ::munmap(content, sizeof(Content));
}

}  // namespace holdfast::tests
