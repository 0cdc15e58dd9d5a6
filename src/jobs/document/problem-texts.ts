/** Takes one problem; the place is already in the text. */
export type Report = (problem: string) => void;

/** Reports whose texts begin with the place, for example `group "web": `. */
export function within(report: Report, place: string): Report {
  return (problem) => report(`${place}: ${problem}`);
}

export function quoted(text: string): string {
  // Most names need no escapes, and this is called for every name of a good job.
  if (text.length <= 128 && /^[\w .:/-]*$/.test(text)) return `"${text}"`;
  return JSON.stringify(text.length > 128 ? `${text.slice(0, 128)}…` : text);
}

/**
 * Several errors as one text: a heading with their number, then one line each, ended by an empty line. Clients of the job
 * interface show it as it is.
 */
export function errorsText(errors: readonly string[]): string {
  const heading = errors.length === 1 ? '1 error occurred:' : `${errors.length} errors occurred:`;
  return `${heading}\n${errors.map((error) => `\t* ${error}\n`).join('')}\n`;
}

/** Warnings as one text, or the empty text when there are none. */
export function warningsText(warnings: readonly string[]): string {
  if (warnings.length === 0) return '';
  const heading = warnings.length === 1 ? '1 warning:' : `${warnings.length} warnings:`;
  return `${heading}\n${warnings.map((warning) => `\n* ${warning}`).join('')}`;
}
