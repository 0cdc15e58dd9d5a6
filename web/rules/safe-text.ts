/*
 * Strings from jobs, outputs, destinations and people are shown as text only. Characters that would hide or reorder what is read are
 * shown by their code points.
 */

/** Control characters but tab and line ends, marks of direction, and characters without width. */
const hidden =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** The string with hidden characters as `‹U+202E›`. */
export function visible(text: string): string {
  return text.replace(
    hidden,
    (character) => `‹U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}›`,
  );
}

/** The address of a link from data, if it leads to a web page; undefined otherwise. */
export function webAddress(text: string): URL | undefined {
  if (!/^https?:\/\//i.test(text)) return undefined;
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
