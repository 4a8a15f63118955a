// Text for people: hostile bytes made harmless, colours, hexadecimal names.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::cli {

/// Bytes of a name or of an owner's label, safe to print anywhere. Printable UTF-8 stays; a
/// backslash becomes `\\`; every byte of a control or invisible character and every byte that is no
/// UTF-8 becomes `\xNN`. Different bytes never look the same.
std::string shown(std::string_view bytes);

/// Lower-case hexadecimal digits, and back; nothing if the text is not pairs of such digits.
std::string to_hex(std::string_view bytes);
std::optional<std::string> from_hex(std::string_view digits);

/// Columns of a terminal that `text`, as made by shown(), takes: one per character.
std::size_t width(std::string_view text);
/// At most `columns` of it.
std::string_view cut(std::string_view text, std::size_t columns);

/// Colours only on terminals, and not if NO_COLOR says so.
enum class colour { plain, bold, red, green, yellow };
class painter {
  public:
    explicit painter(int descriptor);
    std::string operator()(colour which, std::string_view text) const;

  private:
    bool on_ = false;
};

}  // namespace holdfast::cli
