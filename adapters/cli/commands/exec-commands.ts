import { orThrow } from '../../../src/client/index.js';
import { type Command, command, type Invocation } from '../command-line/command.js';
import { converse } from '../conversation/converse.js';
import { Stopped } from '../stopped.js';
import { allocationOf, onlyTask } from './allocation-commands.js';
import { optional } from './job-commands.js';

const conversationOptions = {
  i: { type: 'flag', summary: 'pass standard input on; without it the command finds its input at the end' },
  t: { type: 'flag', summary: 'run it in a terminal, with standard input' },
} as const;

const exec = command({
  words: 'alloc exec',
  parameters: 'ALLOCATION COMMAND [ARGS...]',
  summary: 'run a command beside a task; options stand before ALLOCATION; its exit code is that of the command',
  optionsFirst: true,
  sockets: true,
  options: {
    task: { type: 'text', value: 'TASK', summary: 'the task; the only one when none is named' },
    ...conversationOptions,
  },
  run: async (invocation) => {
    const { options, parameters, box, terminal } = invocation;
    const [prefix = '', ...words] = parameters;
    const { ID, Namespace, TaskStates } = await allocationOf(invocation, prefix);
    const task = options.task ?? onlyTask(Object.keys(TaskStates ?? {}));
    const call = { ...optional('namespace', Namespace), task, command: JSON.stringify(words), tty: `${options.t}` };
    return talk(terminal, options, () => box.allocations.exec(ID, call));
  },
});

interface Wanted {
  readonly i: boolean;
  readonly t: boolean;
}

type Opened = ReturnType<Invocation['box']['allocations']['exec']>;

/** Talks with what was opened over the standard streams, and gives its exit code. */
async function talk({ streams }: Invocation['terminal'], { i, t }: Wanted, open: () => Opened): Promise<number> {
  if (streams === undefined) throw new Stopped('there is no standard input and output to pass on');
  return converse({ socket: await orThrow(open()), streams, input: i || t, terminal: t });
}

export const execCommands: readonly Command[] = [exec];
