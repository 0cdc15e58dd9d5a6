import type { OptionValues } from '../../command-line/command.js';
import type { JobSource } from '../../job-source.js';
import type { Terminal } from '../../terminal.js';

/** Options of the commands that read a job file. */
export const jobFileOptions = {
  var: { type: 'list', value: 'NAME=VALUE', summary: 'value of a variable, may be repeated' },
  'var-file': { type: 'list', value: 'FILE', summary: 'file of variables, may be repeated' },
  hcl1: { type: 'flag', summary: 'read the file in version 1 of the language' },
} as const;

/** The job of the file, or of standard input for `-`. Rejects with `Stopped`, which shows every problem with its place. */
export async function jobFrom(
  path: string,
  options: OptionValues<typeof jobFileOptions>,
  terminal: Terminal,
  canonicalize = false,
): Promise<JobSource> {
  // Loaded here: most commands read no job file, and its language is large.
  const { readJobSource } = await import('../../job-source.js');
  const read = { flags: options.var, files: options['var-file'], canonicalize, hcl1: options.hcl1 };
  return readJobSource(path, read, terminal);
}
