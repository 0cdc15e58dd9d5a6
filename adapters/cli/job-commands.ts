import { parseArgs } from 'node:util';
import { type JobSource, readJobSource } from './job-source.js';
import { serverAt } from './server-client.js';
import { Stopped } from './stopped.js';
import type { Terminal } from './terminal.js';

export const jobUsage = `signalbox parse FILE [options]         print the JSON job of a job file
signalbox job validate FILE [options]  have a server check a job file
signalbox job run FILE [options]       register a job file with a server

  --var NAME=VALUE    value of a variable, may be repeated
  --var-file FILE     file of variables, may be repeated
  --canonicalize      parse: fill unset fields with their defaults
  --hcl1              read the file in version 1 of the language
  --address URL       server to talk to (environment SIGNALBOX_ADDR, else http://127.0.0.1:4646)
  --namespace NAME    namespace of the job, instead of the file's
  --check-index N     run: register only if the job's index is N; 0 asks for a new job

The token for the server is read from the environment, SIGNALBOX_TOKEN.
`;

/** `signalbox parse FILE`: the job as JSON. */
export async function parseCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const { source } = await sourceFrom(args, terminal);
  terminal.out(JSON.stringify(source.job, null, 2) + '\n');
  return 0;
}

/** `signalbox job …`. */
export async function jobCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const [verb, ...rest] = args;
  if (verb === 'validate') return validate(rest, terminal);
  if (verb === 'run') return run(rest, terminal);
  throw new Stopped(`there is no command "job ${(verb ?? '').slice(0, 40)}"\n\n${jobUsage}`, 2);
}

async function validate(args: readonly string[], terminal: Terminal): Promise<number> {
  const { source, values } = await sourceFrom(args, terminal);
  const server = serverAt(values.address, terminal.environment);
  const job = values.namespace === undefined ? source.job : { ...source.job, Namespace: values.namespace };
  const answer = await server.write('/v1/validate/job', { Job: job });
  if (typeof answer['Warnings'] === 'string' && answer['Warnings'] !== '') terminal.error(answer['Warnings'] + '\n');
  if (typeof answer['Error'] === 'string' && answer['Error'] !== '') throw new Stopped(answer['Error']);
  terminal.out('the job is valid\n');
  return 0;
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const { source, values } = await sourceFrom(args, terminal);
  const server = serverAt(values.address, terminal.environment);
  const query = values.namespace === undefined ? '' : `?namespace=${encodeURIComponent(values.namespace)}`;
  const index = values['check-index'];
  if (index !== undefined && !/^[0-9]{1,15}$/.test(index)) throw new Stopped('--check-index takes a number', 2);
  const answer = await server.write(`/v1/jobs${query}`, {
    Job: source.job,
    Submission: source.submission,
    ...(index === undefined ? {} : { EnforceIndex: true, JobModifyIndex: Number(index) }),
  });
  if (typeof answer['Warnings'] === 'string' && answer['Warnings'] !== '') terminal.error(answer['Warnings'] + '\n');
  const evaluation = answer['EvalID'];
  terminal.out(
    typeof evaluation === 'string' && evaluation !== ''
      ? `job registered, evaluation ${evaluation}\n`
      : 'job registered; it runs when it is dispatched or its time comes\n',
  );
  return 0;
}

const known = {
  var: { type: 'string', multiple: true },
  'var-file': { type: 'string', multiple: true },
  canonicalize: { type: 'boolean' },
  hcl1: { type: 'boolean' },
  address: { type: 'string' },
  namespace: { type: 'string' },
  'check-index': { type: 'string' },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof known }>>['values'];

async function sourceFrom(
  args: readonly string[],
  terminal: Terminal,
): Promise<{ readonly source: JobSource; readonly values: Values }> {
  const { values, positionals } = argumentsFrom(args);
  const [path, ...more] = positionals;
  if (path === undefined || more.length > 0) throw new Stopped(`one job file is needed\n\n${jobUsage}`, 2);
  const options = {
    flags: values.var ?? [],
    files: values['var-file'] ?? [],
    canonicalize: values.canonicalize ?? false,
    hcl1: values.hcl1 ?? false,
  };
  return { source: await readJobSource(path, options, terminal), values };
}

function argumentsFrom(args: readonly string[]): { readonly values: Values; readonly positionals: readonly string[] } {
  try {
    return parseArgs({ args: [...args], options: known, allowPositionals: true, strict: true });
  } catch (error) {
    throw new Stopped(`${error instanceof Error ? error.message : 'the options cannot be read'}\n\n${jobUsage}`, 2);
  }
}
