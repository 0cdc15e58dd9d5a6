import type { AllocationUsage, CommandOutput, CommandRefused, FileDescription, NodeCommand } from './node-command.js';
import { amount, bytes, flag, listOf, mapOf, objectOf, oneOf, type Shape, string, validated, whole } from './shape.js';

const note = string(16_384);

const used = { residentBytes: amount, userPercent: amount, systemPercent: amount };
const measured = objectOf({ ...used, pid: amount });
/** Agents of earlier versions report only the ID of each process. */
const processUsage: typeof measured = (value, at) =>
  typeof value === 'number'
    ? { pid: amount(value, at), residentBytes: 0, userPercent: 0, systemPercent: 0 }
    : measured(value, at);
const usage = objectOf({ ...used, processes: listOf(processUsage, 100_000) });
const file: Shape<FileDescription> = objectOf(
  { Name: string(4096), IsDir: flag, Size: amount, FileMode: string(), ModTime: string(64) },
  { ContentType: string(256) },
);
const stream = oneOf('stdout', 'stderr');

const allocationUsage: Shape<AllocationUsage> = objectOf({ tasks: mapOf(usage), at: amount }, { megahertz: amount });

/** The results of commands. */
const values: Readonly<Partial<Record<NodeCommand['type'], Shape<unknown>>>> = {
  stats: allocationUsage,
  list_files: listOf(file, 100_000),
  stat_file: file,
};
const outputs: { readonly [T in CommandOutput['type']]: Shape<Extract<CommandOutput, { readonly type: T }>> } = {
  value: (value) => ({ type: 'value', value: (value as { readonly value?: unknown }).value ?? null }),
  data: objectOf({ type: oneOf('data'), stream, bytes }),
  closed: objectOf({ type: oneOf('closed'), stream }),
  exited: objectOf({ type: oneOf('exited'), code: whole }),
  failed: objectOf({ type: oneOf('failed'), message: note }),
  piece: objectOf({ type: oneOf('piece'), file: string(4096), offset: amount, bytes }),
  file_event: objectOf({ type: oneOf('file_event'), file: string(4096), event: oneOf('deleted', 'truncated') }),
};
const refusal: Shape<CommandRefused> = objectOf(
  { type: oneOf('command_invalid', 'command_not_found', 'command_failed'), message: note },
  { reason: oneOf('invalid', 'not_found', 'state') },
);

/** Validates a command's output as a node sent it; undefined for any other value. */
export function readCommandOutput(command: NodeCommand['type'], sent: unknown): CommandOutput | undefined {
  const kind = validated(kindOfOutput, sent, 'answer');
  if (!('value' in kind)) return undefined;
  const output = validated<CommandOutput>(outputs[kind.value.type], sent, 'answer');
  if (!('value' in output)) return undefined;
  const valueShape = values[command];
  if (output.value.type !== 'value' || valueShape === undefined) return output.value;
  const value = validated(valueShape, output.value.value, 'answer');
  return 'value' in value ? { type: 'value', value: value.value } : undefined;
}

const kindOfOutput = objectOf({
  type: oneOf('value', 'data', 'closed', 'exited', 'failed', 'piece', 'file_event'),
});

/** The command's output in the form that the caller accepts: see `eachProcess` of the command. */
export function outputFor(command: NodeCommand, output: CommandOutput): CommandOutput {
  if (command?.type !== 'stats' || command.eachProcess === true || output.type !== 'value') return output;
  const read = validated(allocationUsage, output.value, 'answer');
  if (!('value' in read)) return output;
  const { tasks, at } = read.value;
  const earlier = Object.entries(tasks).map(([name, used]) => [
    name,
    { ...used, processes: used.processes.map(({ pid }) => pid) },
  ]);
  return { type: 'value', value: { tasks: Object.fromEntries(earlier), at } };
}

/** Validates a node's refusal of a command; undefined for a value of another shape. */
export function readCommandRefusal(sent: unknown): CommandRefused | undefined {
  const read = validated(refusal, sent, 'refusal');
  return 'value' in read ? read.value : undefined;
}
