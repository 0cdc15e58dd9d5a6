#!/usr/bin/env node
import { runCommand } from './run-command.js';
import { processTerminal } from './terminal.js';

/** 128 plus the number of SIGPIPE, as in shells: the reader of the output has exited, for example `head`. */
const outputClosed = 141;

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(outputClosed);
  process.stderr.write(`signalbox: the output cannot be written: ${error.message}\n`);
  process.exit(1);
});
// Log lines that cannot be written (disk full, reader gone) are dropped; later lines are tried again.
process.stderr.on('error', () => undefined);

void runCommand(process.argv.slice(2), processTerminal()).then(async (code) => {
  // Output that does not fit in the pipe is buffered in this process.
  await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  process.exit(code);
});
