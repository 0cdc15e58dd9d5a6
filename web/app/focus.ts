/*
 * The place of the keyboard. Screens do not look after it: when the control that has the focus goes or is disabled, and nothing else takes
 * the focus, the nearest control does: that after it in its row, panel or section, else the last before it, else the heading. A control
 * that is only disabled for a while gets the focus back.
 */

interface Held {
  readonly element: Element;
  /** Stays where the element was, whatever is taken out of the document. */
  readonly range: Range;
}

/** Milliseconds: within them a screen moves the focus itself, and most calls that disable their button are answered. */
const patience = 100;
const controls = ':is(a[href], button, input, select, textarea, summary, [tabindex="0"]):not([tabindex="-1"])';
/** What holds controls that belong together, from the smallest. Of a whole screen it is the heading that gets the focus. */
const places = 'tr, li, .line, .actions, .toolbar, .title, fieldset, form, .panel, section, header, nav, dialog, main';

let held: Held | undefined;
/** What has the focus while the control that is held is disabled. */
let lent: HTMLElement | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

function hold(element: Element): void {
  const range = document.createRange();
  range.setStartBefore(element);
  held = { element, range };
  lent = undefined;
}

function takes(element: Element): boolean {
  return element.isConnected && !element.matches(':disabled') && element.checkVisibility();
}

function isLost(): boolean {
  const { activeElement } = document;
  return activeElement === null || activeElement === document.body || activeElement.matches(':disabled');
}

function nearest(range: Range): HTMLElement | null {
  const { startContainer } = range;
  let place = (startContainer instanceof Element ? startContainer : startContainer.parentElement)?.closest(places);
  while (place) {
    const all = place.matches('main') ? [] : [...place.querySelectorAll<HTMLElement>(controls)].filter(takes);
    const found =
      all.find((each) => range.comparePoint(each, 0) > 0) ??
      all.at(-1) ??
      place.querySelector<HTMLElement>('h1, h2, h3');
    if (found !== null || place.matches('dialog')) return found;
    place = place.parentElement?.closest(places);
  }
  return document.querySelector('main h1');
}

/** Gives the focus to what is held, or to what is nearest to it. */
function give({ element, range }: Held): void {
  const to = element instanceof HTMLElement && takes(element) ? element : nearest(range);
  if (to === null) return;
  if (/^H\d$/.test(to.tagName)) to.tabIndex = -1;
  lent = to !== element && element.isConnected ? to : undefined;
  to.focus({ preventScroll: true });
}

function settle(): void {
  clearTimeout(timer);
  timer = undefined;
  if (held === undefined || !document.hasFocus()) return;
  const isBack = lent !== undefined && document.activeElement === lent && takes(held.element);
  // What is being read comes in the place of the control.
  if (isBack || (isLost() && document.querySelector('main [aria-busy=true]') === null)) give(held);
}

/** Remembers what has the focus; the function that it returns gives the focus back. */
export function rememberFocus(): () => void {
  const before = held;
  return () => {
    held = before;
    if (before !== undefined) give(before);
  };
}

/** Keeps the focus in the page from now on. */
export function keepFocus(): void {
  let pressed: EventTarget | null = null;
  addEventListener('focusin', ({ target }) => {
    if (target instanceof Element && target !== lent) hold(target);
  });
  // A press elsewhere is meant to take the focus away.
  addEventListener(
    'pointerdown',
    ({ target }) => {
      if (target instanceof Node && held?.element.contains(target) !== true) held = lent = undefined;
    },
    true,
  );
  // A key that is held down acts on what it was pressed on, and never on what has got the focus since.
  addEventListener(
    'keydown',
    (event) => {
      if (!event.repeat) pressed = event.target;
      else if (event.target !== pressed && /^(?:Enter| )$/.test(event.key)) event.preventDefault();
    },
    true,
  );
  new MutationObserver(() => {
    if (held === undefined || !(lent !== undefined || isLost())) return;
    if (takes(held.element)) settle();
    else timer ??= setTimeout(settle, patience);
  }).observe(document, { subtree: true, childList: true, attributeFilter: ['disabled', 'aria-busy', 'open'] });
}
