import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { resultOr } from '../../../src/shared/values.js';

/** What to run, and where. */
export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly directory: string;
}

/** Reads the task's `Config`; returns an error message if it is invalid. */
export function parseRawExecConfig(config: Readonly<Record<string, unknown>>, root: string): Command | string {
  const { command, args = [], work_dir: directory } = config;
  if (typeof command !== 'string' || command === '') return 'The task\'s config needs "command", a non-empty string';
  if (!Array.isArray(args) || !args.every((arg): arg is string => typeof arg === 'string'))
    return 'The task\'s config has invalid "args": expected a list of strings';
  if (directory !== undefined && (typeof directory !== 'string' || !isAbsolute(directory))) {
    return 'The task\'s config has an invalid "work_dir": expected an absolute path';
  }
  const cwd = directory ?? root;
  if ([command, ...args, cwd].some((text) => text.includes('\0'))) return "The task's config contains a NUL character";
  if (!isDirectory(cwd)) return `The working directory ${cwd} does not exist`;
  return { command, args, directory: cwd };
}

/** The message for a command that is missing from the search path or not executable. */
export function commandFault(command: string, directory: string, searchPath: string): string | undefined {
  const candidates = command.includes('/')
    ? [resolve(directory, command)]
    : searchPath
        .split(delimiter)
        .filter((part) => part !== '')
        .map((part) => join(part, command));
  return candidates.some(isExecutable) ? undefined : `The command ${command} was not found or is not executable`;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isDirectory(path: string): boolean {
  return resultOr(false, () => statSync(path).isDirectory());
}
