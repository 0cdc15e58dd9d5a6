#!/usr/bin/env node
import { runCommand } from './run-command.js';
import { processTerminal } from './terminal.js';

void runCommand(process.argv.slice(2), processTerminal()).then((code) => process.exit(code));
