/** What is quoted from a request in a message is cut, so that an error is never large. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? text.slice(0, 80) + '…' : text);
}
