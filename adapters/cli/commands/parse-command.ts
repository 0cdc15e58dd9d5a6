import { command, option } from '../command-line/command.js';
import { inJson } from '../output/tables.js';
import { jobFileOptions, jobFrom } from './jobs/job-file.js';

export const parse = command({
  usage: 'parse FILE',
  summary: 'print the JSON job of a job file',
  local: true,
  options: { ...jobFileOptions, canonicalize: option.flag('fill omitted fields with their defaults') },
  run: async ({ options, terminal }, path = '') => {
    const { job } = await jobFrom(path, options, terminal, options.canonicalize);
    terminal.out(`${inJson(job, 2)}\n`);
    return 0;
  },
});
