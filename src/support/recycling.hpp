// For maps whose entries come and go all the time.
#pragma once

#include <cstddef>
#include <utility>

namespace holdfast::support {

/// A map with node handles (std::map, std::unordered_map) that keeps the node that left it last:
/// the next entry needs no memory of its own.
template <class Map>
class recycling {
  public:
    using iterator = typename Map::iterator;
    using const_iterator = typename Map::const_iterator;
    using key_type = typename Map::key_type;
    using mapped_type = typename Map::mapped_type;

    iterator begin() noexcept { return map_.begin(); }
    iterator end() noexcept { return map_.end(); }
    const_iterator begin() const noexcept { return map_.begin(); }
    const_iterator end() const noexcept { return map_.end(); }
    bool empty() const noexcept { return map_.empty(); }
    std::size_t size() const noexcept { return map_.size(); }
    iterator find(const key_type& key) { return map_.find(key); }
    bool contains(const key_type& key) const { return map_.contains(key); }

    /// The entry of this key, and whether it is new. The value of a new one is as drop() found it.
    std::pair<iterator, bool> try_emplace(const key_type& key) {
        if (spare_.empty()) return map_.try_emplace(key);
        spare_.key() = key;
        auto placed = map_.insert(std::move(spare_));
        if (!placed.inserted) spare_ = std::move(placed.node);
        return {placed.position, placed.inserted};
    }
    void put(const key_type& key, mapped_type value) {
        try_emplace(key).first->second = std::move(value);
    }
    /// Leaves the value as it is, memory and all, for the next entry.
    void drop(iterator which) noexcept { spare_ = map_.extract(which); }
    mapped_type take(iterator which) noexcept {
        mapped_type taken = std::move(which->second);
        drop(which);
        return taken;
    }
    /// False if there was none.
    bool erase(const key_type& key) noexcept {
        const auto found = map_.find(key);
        if (found == map_.end()) return false;
        static_cast<void>(take(found));
        return true;
    }

  private:
    Map map_;
    typename Map::node_type spare_;
};

}  // namespace holdfast::support
