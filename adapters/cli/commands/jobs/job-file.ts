import { type OptionValues, option, yesOrNo } from '../../command-line/command.js';
import type { JobSource } from '../../job-source.js';
import type { Terminal } from '../../terminal.js';
import { flagOption } from '../option-values.js';

/** Options of the commands that read a job file. */
export const jobFileOptions = {
  var: option.list(
    'NAME=VALUE',
    'value of a variable, may be repeated; overrides files and the environment (SIGNALBOX_VAR_NAME, NOMAD_VAR_NAME)',
  ),
  'var-file': option.list(
    'FILE',
    'file of variables, may be repeated; later files override earlier ones, and all override the environment',
  ),
  'hcl2-strict': option.text('BOOL', 'whether values of undeclared variables are refused (true)', yesOrNo),
  hcl1: option.flag('parse the file as version 1 of the language (HCL1)'),
} as const;

/** The job of the file, or of standard input for `-`. Rejects with `Stopped`, which lists every problem with its location. */
export async function jobFrom(
  path: string,
  options: OptionValues<typeof jobFileOptions>,
  terminal: Terminal,
  canonicalize = false,
): Promise<JobSource> {
  // Loaded lazily: most commands read no job file, and the HCL parser is large.
  const { readJobSource } = await import('../../job-source.js');
  const read = {
    flags: options.var,
    files: options['var-file'],
    strict: flagOption('hcl2-strict', options['hcl2-strict']) ?? true,
    canonicalize,
    hcl1: options.hcl1,
  };
  return readJobSource(path, read, terminal);
}
