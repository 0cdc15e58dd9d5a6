#!/usr/bin/env node
import { runCommand } from './run-command.js';
import { processTerminal } from './terminal.js';

/** 128 plus the number of SIGPIPE, the shell convention: the reader of the output has exited, as `head` does. */
const outputClosed = 141;

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(outputClosed);
  process.stderr.write(`signalbox: the output cannot be written: ${error.message}\n`);
  process.exit(1);
});
// The log of a server may be on a full disk, or its reader may be gone: such lines are dropped, and later ones are tried again.
process.stderr.on('error', () => undefined);

void runCommand(process.argv.slice(2), processTerminal()).then(async (code) => {
  // What a pipe has no room for waits in this process.
  await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  process.exit(code);
});
