import type { Diagnostic } from './diagnostic.js';

/** How diagnostics are printed. */
export interface RenderOptions {
  /** Adds terminal colours. */
  readonly colour?: boolean;
}

/**
 * One diagnostic for display: `file:line,column: error: message`, the snippet, and what to do about it.
 */
export function renderDiagnostic(diagnostic: Diagnostic, options: RenderOptions = {}): string {
  const paint = options.colour === true ? coloured : plain;
  const { file, start, severity, message, detail, suggestion } = diagnostic;
  const tone = severity === 'error' ? RED : YELLOW;
  const lines = [`${paint(BOLD, `${file}:${start.line},${start.column}:`)} ${paint(tone, `${severity}:`)} ${message}`];
  const [code = '', carets = ''] = diagnostic.snippet.split('\n');
  if (code.trim() !== '') {
    const number = String(start.line);
    lines.push(`  ${number} | ${code}`, `  ${' '.repeat(number.length)} | ${paint(tone, carets)}`);
  }
  if (detail !== undefined) lines.push(`  ${detail}`);
  if (suggestion !== undefined) lines.push(`  Did you mean ${paint(BOLD, `"${suggestion}"`)}?`);
  return lines.join('\n');
}

/** All diagnostics, in their order, with an empty line between them. */
export function renderDiagnostics(diagnostics: readonly Diagnostic[], options: RenderOptions = {}): string {
  return diagnostics.map((diagnostic) => renderDiagnostic(diagnostic, options)).join('\n\n');
}

const BOLD = '1';
const RED = '31';
const YELLOW = '33';

function plain(_style: string, text: string): string {
  return text;
}

function coloured(style: string, text: string): string {
  return `\u001b[${style}m${text}\u001b[0m`;
}
