/*
 * Strings from jobs, outputs, destinations and people are shown as text only. Characters that would hide or reorder what is read are
 * shown by their code points.
 */

/** Control characters but tab and line end, marks of direction, separators of lines, and what has no ink but the variants of a character. */
const hidden =
  /[^\P{Cc}\t\n]|[\p{Bidi_Control}\p{Zl}\p{Zp}\ufff9-\ufffb]|(?![\ufe00-\ufe0f])\p{Default_Ignorable_Code_Point}/gu;

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
