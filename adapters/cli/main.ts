#!/usr/bin/env node
import { runCommand } from './run-command.js';
import { processTerminal } from './terminal.js';

/** 128 plus the number of SIGPIPE, the shell convention: the reader of the output has exited, as `head` does. */
const outputClosed = 141;

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(outputClosed);
  throw error;
});

void runCommand(process.argv.slice(2), processTerminal()).then((code) => process.exit(code));
