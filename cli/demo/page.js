// Shows what a mark stands for when it is pointed at or has the focus, and which others it has to do
// with. Without this script the browser shows the marks' titles.
'use strict';

const tip = document.createElement('div');
tip.className = 'tip';
tip.hidden = true;
document.body.append(tip);

function show(mark) {
    hide();
    tip.textContent = mark.getAttribute('aria-label');
    tip.hidden = false;
    const at = mark.querySelector('.body').getBoundingClientRect();
    const left = Math.min(at.left, window.innerWidth - tip.offsetWidth - 12);
    const below = at.bottom + 10;
    const fits = below + tip.offsetHeight < window.innerHeight;
    tip.style.left = Math.max(8, left) + 'px';
    tip.style.top = (fits ? below : at.top - tip.offsetHeight - 10) + 'px';
    if (mark.dataset.with) light(mark.dataset.with + ' ' + mark.id);
}

function light(ids) {
    for (const id of ids.split(' ')) {
        const mark = document.getElementById(id);
        mark.classList.add('lit');
        mark.closest('svg').classList.add('dim');
    }
}

function hide() {
    tip.hidden = true;
    for (const each of document.querySelectorAll('.lit')) each.classList.remove('lit');
    for (const each of document.querySelectorAll('.dim')) each.classList.remove('dim');
}

// One stop for the tabulator key in each chart; the arrow keys go from mark to mark.
function move(event) {
    const marks = [...event.currentTarget.querySelectorAll('.mark')];
    const at = marks.indexOf(document.activeElement);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (at < 0 || !step || !marks[at + step]) return;
    event.preventDefault();
    marks[at].setAttribute('tabindex', '-1');
    marks[at + step].setAttribute('tabindex', '0');
    marks[at + step].focus();
}

for (const chart of document.querySelectorAll('.chart')) {
    chart.addEventListener('keydown', move);
    chart.querySelectorAll('.mark').forEach((mark, place) => {
        const title = mark.querySelector('title');
        mark.setAttribute('aria-label', title.textContent);
        mark.setAttribute('role', 'img');
        mark.setAttribute('tabindex', place === 0 ? '0' : '-1');
        title.remove();
        mark.addEventListener('pointerenter', () => show(mark));
        mark.addEventListener('focus', () => show(mark));
        mark.addEventListener('pointerleave', hide);
        mark.addEventListener('blur', hide);
    });
}

for (const item of document.querySelectorAll('.mistakes li')) {
    item.tabIndex = 0;
    item.addEventListener('pointerenter', () => light(item.dataset.with));
    item.addEventListener('focus', () => light(item.dataset.with));
    item.addEventListener('pointerleave', hide);
    item.addEventListener('blur', hide);
}

document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') hide();
});
