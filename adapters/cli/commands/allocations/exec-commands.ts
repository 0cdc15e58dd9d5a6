import { orThrow } from '../../../../src/client/index.js';
import type { AllocationListStub } from '../../../../src/scheduler/index.js';
import { type Command, command, type Invocation, option } from '../../command-line/command.js';
import { runExecSession } from '../../interactive/exec-session.js';
import { tableOf } from '../../output/tables.js';
import { Stopped } from '../../stopped.js';
import { existing } from '../find-record.js';
import { optional } from '../option-values.js';
import { print } from '../print.js';
import { allocationOf, allocationOrThatOfJob, allocationToUse, ofJobOption, onlyTask } from './allocation-commands.js';

const sessionOptions = {
  i: option.flag('forward standard input; without it the input of the command is empty'),
  t: option.flag('run the command in a terminal, with standard input'),
} as const;

const exec = command({
  usage: 'alloc exec ALLOCATION COMMAND [ARGS...]',
  summary: 'run a command in the environment of a task and exit with its code; options precede ALLOCATION',
  optionsFirst: true,
  raw: true,
  sockets: true,
  options: {
    ...ofJobOption,
    task: option.text('TASK', 'the task (the only one of the allocation)'),
    ...sessionOptions,
  },
  run: async (invocation) => {
    const { options, parameters, box, terminal } = invocation;
    const [prefix = '', ...words] = parameters;
    const { ID, Namespace, TaskStates } = await allocationOrThatOfJob(invocation, prefix, allocationToUse);
    const task = options.task ?? onlyTask(Object.keys(TaskStates ?? {}));
    const call = { ...optional('namespace', Namespace), task, command: JSON.stringify(words), tty: `${options.t}` };
    return talk(terminal, options, () => box.allocations.exec(ID, call));
  },
});

const action = command({
  usage: 'job action JOB [ACTION]',
  summary: 'run an action of a job in a running allocation and exit with its code; without ACTION, list the actions',
  sockets: true,
  options: {
    task: option.text('TASK', 'the task of the action; required if several tasks have an action with this name'),
    group: option.text('GROUP', 'the group of the action'),
    alloc: option.text('ALLOCATION', 'run it in this allocation (the newest running one)'),
    ...sessionOptions,
  },
  run: async (invocation, jobId = '', name) => {
    const { options, box, terminal } = invocation;
    const actions = await actionsOf(invocation, jobId);
    if (name === undefined) return print(invocation, actions, actionsText);
    if (invocation.json) throw new Stopped('--json is for the list of actions', 2);
    const chosen = theAction(jobId, actions, name);
    const { ID, Namespace } = await allocationFor(invocation, jobId, chosen);
    const call = {
      ...optional('namespace', Namespace),
      allocationId: ID,
      task: chosen.TaskName,
      action: name,
      tty: `${options.t}`,
    };
    return talk(terminal, options, () => box.jobs.runAction(jobId, call));
  },
});

type JobAction = Awaited<ReturnType<typeof actionsOf>>[number];

/** The actions of the group and the task, if given. */
async function actionsOf({ box, inNamespace, options }: Invocation, jobId: string) {
  await existing(box.jobs.read(jobId, inNamespace), `job ${jobId}`);
  const actions = await orThrow(box.jobs.actions(jobId, inNamespace));
  const { task, group } = options;
  return actions.filter(
    ({ TaskName, TaskGroupName }) =>
      (task === undefined || TaskName === task) && (group === undefined || TaskGroupName === group),
  );
}

function actionsText(actions: readonly JobAction[]): string {
  const rows = actions.map(({ Name, TaskGroupName, TaskName, Command, Args }) => [
    Name,
    TaskGroupName,
    TaskName,
    [Command, ...(Args ?? [])].join(' '),
  ]);
  return tableOf(['Action', 'Group', 'Task', 'Command'], rows, 'no actions');
}

/** Groups may share an action and its task: then any of them will do. Lists the candidates if the choice is ambiguous. */
function theAction(jobId: string, actions: readonly JobAction[], name: string): JobAction {
  const named = actions.filter(({ Name }) => Name === name);
  const [first] = named;
  if (first === undefined) {
    const names = [...new Set(actions.map(({ Name }) => Name))].join(', ');
    throw new Stopped(`job ${jobId} has no action ${name}${names === '' ? '' : `; it has ${names}`}`);
  }
  const choices = named.map(({ TaskGroupName, TaskName }) => `${TaskName} of group ${TaskGroupName}`);
  if (choices.length > 1) throw new Stopped(`name one with --task or --group: ${choices.join(', ')}`, 2);
  return first;
}

interface Wanted {
  readonly i: boolean;
  readonly t: boolean;
}

type Opened = ReturnType<Invocation['box']['allocations']['exec']>;

/** The allocation of the option, else the newest running one of the action's group. */
async function allocationFor(
  invocation: Invocation,
  jobId: string,
  { TaskGroupName, TaskName }: JobAction,
): Promise<Pick<AllocationListStub, 'ID' | 'Namespace'>> {
  const { alloc } = invocation.options;
  if (typeof alloc === 'string') return allocationOf(invocation, alloc);
  const read = invocation.box.jobs.allocations(jobId, invocation.inNamespace);
  const chosen = allocationToUse(await existing(read, `job ${jobId}`), { group: TaskGroupName, task: TaskName });
  if (chosen === undefined) throw new Stopped(`no allocation of group ${TaskGroupName} of job ${jobId} is running`);
  return chosen;
}

/** Connects the opened session to the standard streams and returns its exit code. */
async function talk({ streams }: Invocation['terminal'], { i, t }: Wanted, open: () => Opened): Promise<number> {
  if (streams === undefined) throw new Stopped('this process has no standard input and output to forward');
  return runExecSession({ socket: await orThrow(open()), streams, input: i || t, terminal: t });
}

export const execCommands: readonly Command[] = [exec, action];
