import { useLayoutEffect } from 'preact/hooks';
import { preferences } from './preferences.js';

/*
 * Shortcuts: single keys, which a person can switch off, and sequences that begin with G. They never act in fields, in dialogs of
 * others, or with the keys of the browser and of screen readers.
 */

type Action = () => void;

const actions = new Map<string, Action[]>();
let begun = '';
let begunAt = 0;

/** Acts on a key while the component is shown; the latest component that wants it gets it. `g j` is a sequence. */
export function useKey(key: string, action: Action | undefined): void {
  useLayoutEffect(() => {
    if (action === undefined) return;
    const of = actions.get(key) ?? [];
    actions.set(key, [...of, action]);
    return () =>
      actions.set(
        key,
        (actions.get(key) ?? []).filter((each) => each !== action),
      );
  });
}

function run(key: string, event: KeyboardEvent): boolean {
  const action = actions.get(key)?.at(-1);
  if (action === undefined) return false;
  event.preventDefault();
  action();
  return true;
}

document.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
    if (event.key === 'k') run('ctrl k', event);
    if (event.key === 'Enter') run('ctrl enter', event);
    return;
  }
  if (event.altKey || event.metaKey || event.ctrlKey || !preferences.value.singleKeys) return;
  // Within a shadow root the target is its host.
  const [target] = event.composedPath();
  if (target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)))
    return;
  if (document.querySelector('dialog[open]') !== null) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const sequence = begun !== '' && performance.now() - begunAt < 1500 ? `${begun} ${key}` : key;
  begun = '';
  if (run(sequence, event)) return;
  if (key === 'g') {
    begun = 'g';
    begunAt = performance.now();
  }
});

/** Moves the focus to the next or previous link of a row. */
export function moveRow(step: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>('[data-row-link]')];
  const at = links.indexOf(document.activeElement as HTMLElement);
  const next = links[at === -1 ? (step === 1 ? 0 : links.length - 1) : at + step];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}
