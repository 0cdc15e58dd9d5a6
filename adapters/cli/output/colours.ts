/** Marks for additions, removals and changes, or nothing at all. */
export interface Colours {
  added(text: string): string;
  removed(text: string): string;
  changed(text: string): string;
  strong(text: string): string;
}

export function coloursFor(enabled: boolean): Colours {
  const mark = (code: number) => (text: string) => (enabled ? `\u001b[${code}m${text}\u001b[0m` : text);
  return { added: mark(32), removed: mark(31), changed: mark(33), strong: mark(1) };
}
