import { orThrow } from '../../../src/client/index.js';
import { type Command, command, type Invocation } from '../command-line/command.js';
import { tableOf } from '../output/tables.js';
import { Stopped } from '../stopped.js';
import { allocationCommands } from './allocations/allocation-commands.js';
import { jobCommands } from './jobs/job-commands.js';
import { namespaceCommands } from './namespace-commands.js';
import { nodeCommands } from './nodes/node-commands.js';
import { nodePoolCommands } from './nodes/node-pool-commands.js';
import { print } from './print.js';
import { deploymentCommands } from './scheduling/deployment-commands.js';
import { evaluationCommands } from './scheduling/evaluation-commands.js';
import { storeStatus } from './store-status.js';

/** The command that shows one match, by search context. */
const shownBy: Readonly<Record<string, string>> = {
  jobs: 'job status',
  allocs: 'alloc status',
  evals: 'eval status',
  deployment: 'deployment status',
  nodes: 'node status',
  node_pools: 'node pool status',
  namespaces: 'namespace status',
};

const showing: readonly Command[] = [
  ...jobCommands,
  ...allocationCommands,
  ...evaluationCommands,
  ...deploymentCommands,
  ...nodeCommands,
  ...nodePoolCommands,
  ...namespaceCommands,
];

/** `signalbox status`: shows the record with this name or ID, or lists those with this prefix. */
export const search = command({
  usage: 'status [PREFIX]',
  summary: 'list jobs and the state of the store, or show the record of any kind whose name or ID has this prefix',
  run: async (invocation, prefix) => {
    if (prefix === undefined) {
      const code = await show(invocation, 'job status', []);
      if (!invocation.json) invocation.terminal.out(await storeStatus(invocation));
      return code;
    }
    const matches = await matchesOf(invocation, prefix);
    const [first] = matches;
    if (first === undefined) throw new Stopped(`nothing begins with ${prefix}`);
    const exact = matches.filter(({ name }) => name === prefix);
    const only = matches.length === 1 ? first : exact.length === 1 ? exact[0] : undefined;
    const words = only === undefined ? undefined : shownBy[only.context];
    if (only !== undefined && words !== undefined) return show(invocation, words, [only.name]);
    const rows = matches.map(({ context, name }) => [context, name]);
    return print(invocation, matches, () => tableOf(['Kind', 'Name'], rows, ''));
  },
});

interface Match {
  readonly context: string;
  readonly name: string;
}

async function matchesOf({ box, inNamespace }: Invocation, prefix: string): Promise<readonly Match[]> {
  const { Matches } = await orThrow(box.search.prefix(prefix, 'all', inNamespace));
  return Object.entries<readonly string[] | null>(Matches).flatMap(([context, names]) =>
    (names ?? []).map((name) => ({ context, name })),
  );
}

/** The other command runs without options. */
function show(invocation: Invocation, words: string, parameters: readonly string[]): Promise<number> {
  const shown = showing.find((each) => each.words === words);
  if (shown === undefined) throw new Stopped(`there is no command ${words}`);
  return shown.run({ ...invocation, options: {}, parameters }, ...parameters);
}
