/** Takes one problem; the place is already in the text. */
export type Report = (problem: string) => void;

/**
 * Reports whose texts begin with the place: `within(report, 'group', 'web')` with `group "web": `. The text is made when there
 * is a problem to tell, since most jobs have none.
 */
export function within(report: Report, place: string, name?: string): Report {
  return (problem) => report(`${name === undefined ? place : `${place} ${quoted(name)}`}: ${problem}`);
}

export function quoted(text: string): string {
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
