import { orThrow } from '../../../../src/client/index.js';
import { type Command, command, option, yesOrNo } from '../../command-line/command.js';
import { jobStatusWord } from '../../output/job-status-word.js';
import { facts, tableOf, timeText } from '../../output/tables.js';
import { Stopped } from '../../stopped.js';
import { existing } from '../find-record.js';
import { optional, pairs } from '../option-values.js';
import { confirm, print } from '../print.js';
import { nodesText } from './node-commands.js';

const list = command({
  usage: 'node pool list [PREFIX]',
  summary: 'list the node pools, or those whose names have this prefix',
  run: async (invocation, prefix) => {
    const { value } = await orThrow(invocation.box.nodePools.list(optional('prefix', prefix)));
    const rows = value.items.map(({ Name, Description }) => [Name, Description]);
    return print(invocation, value.items, () => tableOf(['Name', 'Description'], rows, 'no node pools'));
  },
});

const status = command({
  usage: 'node pool status POOL',
  summary: 'show a node pool with its scheduler settings',
  run: async (invocation, given = '') => {
    const pool = await existing(invocation.box.nodePools.read(given), `node pool ${given}`);
    return print(invocation, pool, ({ Name, Description, Meta, SchedulerConfiguration }) => {
      const { SchedulerAlgorithm, MemoryOversubscriptionEnabled } = SchedulerConfiguration ?? {};
      const oversubscription = MemoryOversubscriptionEnabled ?? undefined;
      return facts({
        Name,
        Description,
        'Scheduler algorithm': SchedulerAlgorithm,
        'Memory oversubscription': oversubscription,
        ...Object.fromEntries(Object.entries(Meta ?? {}).map(([key, value]) => [`Meta ${key}`, value])),
      });
    });
  },
});

const nodes = command({
  usage: 'node pool nodes POOL',
  summary: 'list the nodes of a pool',
  run: async (invocation, name = '') => {
    const { items } = await existing(invocation.box.nodePools.nodes(name), `node pool ${name}`);
    return print(invocation, items, nodesText);
  },
});

const jobs = command({
  usage: 'node pool jobs POOL',
  summary: 'list the jobs of a pool',
  run: async (invocation, name = '') => {
    const read = invocation.box.nodePools.jobs(name, invocation.inNamespace);
    const { items } = await existing(read, `node pool ${name}`);
    if (invocation.json) return print(invocation, items, () => '');
    const rows = items.map((job) => [job.ID, job.Namespace, job.Type, jobStatusWord(job), timeText(job.SubmitTime)]);
    return print(invocation, items, () => tableOf(['ID', 'Namespace', 'Type', 'Status', 'Submitted'], rows, 'no jobs'));
  },
});

const apply = command({
  usage: 'node pool apply POOL',
  summary: 'create or change a node pool; what no option names is left unchanged',
  options: {
    description: option.text('TEXT', 'description of the pool'),
    meta: option.list('KEY=VALUE', 'a metadata value, may be repeated; replaces all metadata of the pool'),
    'scheduler-algorithm': option.text('NAME', 'how nodes are ranked; empty: the scheduler configuration decides', [
      'binpack',
      'spread',
      '',
    ]),
    'memory-oversubscription': option.text(
      'BOOL',
      'whether tasks may use more memory than they reserve; empty: the scheduler configuration decides',
      [...yesOrNo, ''],
    ),
  },
  run: async (invocation, name = '') => {
    const { box, options } = invocation;
    const before = (await orThrow(box.nodePools.read(name))).value;
    const meta = options.meta.length === 0 ? (before?.Meta ?? undefined) : pairs('meta', options.meta);
    const content = {
      ...optional('description', options.description ?? before?.Description),
      ...optional('meta', meta),
      ...optional('nodeIdentityTtl', before && before.NodeIdentityTTL / 1_000_000),
      ...optional('schedulerConfiguration', configurationFrom(options, before?.SchedulerConfiguration ?? null)),
    };
    return confirm(invocation, box.nodePools.put(name, content), `node pool ${name} is stored`);
  },
});

interface ConfigurationOptions {
  readonly 'scheduler-algorithm': string | undefined;
  readonly 'memory-oversubscription': string | undefined;
}

interface PoolConfiguration {
  readonly SchedulerAlgorithm: string;
  readonly MemoryOversubscriptionEnabled: boolean | null;
}

/** The pool's new scheduler settings; undefined if it has none. */
function configurationFrom(options: ConfigurationOptions, before: PoolConfiguration | null) {
  const algorithm = options['scheduler-algorithm'] ?? before?.SchedulerAlgorithm ?? '';
  const memory = oversubscription(
    options['memory-oversubscription'],
    before?.MemoryOversubscriptionEnabled ?? undefined,
  );
  if (algorithm === '' && memory === undefined) return undefined;
  return {
    ...(algorithm === '' ? {} : { SchedulerAlgorithm: algorithm }),
    ...optional('MemoryOversubscriptionEnabled', memory),
  };
}

function oversubscription(text: string | undefined, before: boolean | undefined): boolean | undefined {
  if (text === undefined) return before;
  if (text === '') return undefined;
  if (text !== 'true' && text !== 'false') throw new Stopped('--memory-oversubscription takes true or false', 2);
  return text === 'true';
}

const remove = command({
  usage: 'node pool delete POOL',
  summary: 'delete a node pool without nodes and jobs',
  run: async (invocation, name = '') =>
    confirm(invocation, invocation.box.nodePools.remove(name), `node pool ${name} is deleted`),
});

export const nodePoolCommands: readonly Command[] = [list, status, nodes, jobs, apply, remove];
