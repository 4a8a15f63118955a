// A ticket as text: hf1.NAME.CLAIM.TOKEN, the first two in hexadecimal.
#pragma once

#include <string>
#include <string_view>

#include <holdfast/lease.hpp>
#include <holdfast/result.hpp>

namespace holdfast::core {

struct ticket_content {
    std::string name;
    claim_id claim;
    fencing_token token;
};

ticket write_ticket(const ticket_content& what);
/// errc::invalid_argument names the part that is wrong.
result<ticket_content> parse_ticket(std::string_view text);

}  // namespace holdfast::core
