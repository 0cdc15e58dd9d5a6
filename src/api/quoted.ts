/** Truncates request data quoted in a message, so that errors stay small. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? text.slice(0, 80) + '…' : text);
}
