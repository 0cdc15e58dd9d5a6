import type { Logger } from '../../src/ports/index.js';
import { inJson } from './output/cells.js';
import type { Terminal } from './terminal.js';

/** A logger that writes one JSON line per entry to the error stream; `debug` is dropped. */
export function stderrLogger(terminal: Terminal): Logger {
  const write = (level: string, fields: Readonly<Record<string, unknown>>, message: string): void =>
    terminal.error(`${inJson({ time: new Date().toISOString(), level, message, ...fields })}\n`);
  return {
    debug: () => undefined,
    info: (fields, message) => write('info', fields, message),
    warn: (fields, message) => write('warn', fields, message),
    error: (fields, message) => write('error', fields, message),
  };
}
