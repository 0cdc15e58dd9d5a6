import { box, type EntryOf, messageOf, type ValueOf } from '../app/engine.js';
import { keepEqual, useRead } from '../app/read.js';
import { may, mayInArea } from '../app/rights.js';
import { addressOf, Link, place, setQuery } from '../app/router.js';
import { Screen, Tabs } from '../app/shell.js';
import { Time } from '../app/time.js';
import type { StateMark } from '../job-rules.js';
import { ask } from '../parts/dialog.js';
import { Facts, Field } from '../parts/form.js';
import { Mark } from '../parts/marks.js';
import { type Column, DataTable } from '../parts/table.js';
import { Id, Text } from '../parts/text.js';
import { announce } from '../parts/toasts.js';
import { View } from '../parts/view.js';
import { bytesText, counted } from '../rules/durations.js';
import { AllocationTable } from './job/overview.js';
import { NodeWhatIf } from './what-if.js';

type NodeEntry = EntryOf<typeof box.nodes.list>;
type Node = NonNullable<ValueOf<typeof box.nodes.read>>;

interface Standing {
  readonly Status: string;
  readonly SchedulingEligibility: string;
  readonly Drain: boolean;
}

/** The state of a node as people say it. */
function standingOf({ Status, SchedulingEligibility, Drain }: Standing): {
  readonly mark: StateMark;
  readonly word: string;
} {
  if (Status !== 'ready') return { mark: Status === 'disconnected' ? 'lost' : 'failed', word: Status };
  if (Drain) return { mark: 'degraded', word: 'draining' };
  return SchedulingEligibility === 'eligible'
    ? { mark: 'good', word: 'ready' }
    : { mark: 'off', word: 'takes nothing new' };
}

const columns: readonly Column<NodeEntry>[] = [
  {
    key: 'name',
    title: 'Node',
    cell: ({ ID, Name }) => (
      <>
        <Link to={addressOf(['nodes', ID])} data-row-link>
          <Text of={Name} />
        </Link>{' '}
        <Id of={ID} what="the node's ID" />
      </>
    ),
  },
  { key: 'state', title: 'State', cell: (node) => <Mark {...standingOf(node)} /> },
  { key: 'pool', title: 'Pool', cell: ({ NodePool }) => <Text of={NodePool} /> },
  { key: 'datacenter', title: 'Datacenter', cell: ({ Datacenter }) => <Text of={Datacenter} /> },
  { key: 'class', title: 'Class', cell: ({ NodeClass }) => <Text of={NodeClass} /> },
  {
    key: 'memory',
    title: 'Memory',
    isNumber: true,
    cell: ({ NodeResources }) => (NodeResources == null ? '' : bytesText(NodeResources.Memory.MemoryMB * 1024 * 1024)),
  },
  {
    key: 'cpu',
    title: 'CPU',
    isNumber: true,
    cell: ({ NodeResources }) => (NodeResources == null ? '' : `${NodeResources.Cpu.CpuShares} MHz`),
  },
  { key: 'version', title: 'Version', cell: ({ Version }) => <Text of={Version} /> },
];

export function NodesTabs({ current }: { readonly current: 'nodes' | 'capacity' }) {
  const tabs = [
    { name: 'nodes', label: 'List', to: addressOf(['nodes']) },
    // What is allocated is read from the allocations.
    ...(may('jobs.read', '*') ? [{ name: 'capacity', label: 'Capacity', to: addressOf(['topology']) }] : []),
  ];
  return <Tabs tabs={tabs} current={current} />;
}

export function NodesScreen() {
  const asked = place.value.query.get('q') ?? '';
  const nodes = useRead('nodes', {
    topics: ['Node'],
    read: ({ signal }) => box.nodes.list({ signal, resources: true, perPage: 1000 }),
    keep: (next, previous) => ({ ...next, items: keepEqual(next.items, previous.items, ({ ID }) => ID) }),
  });
  return (
    <Screen title="Nodes">
      <NodesTabs current="nodes" />
      <search>
        <div class="toolbar">
          <input
            type="search"
            aria-label="Filter"
            placeholder="Part of a name, a pool, a datacenter or a class"
            value={asked}
            onInput={(event) => setQuery({ q: event.currentTarget.value })}
          />
        </div>
      </search>
      <View
        reading={nodes}
        what="the nodes"
        needs="read on nodes"
        isEmpty={({ items }) => items.length === 0}
        empty={<NoNodes />}
      >
        {({ items, nextToken }) => {
          const words = asked
            .toLowerCase()
            .split(/\s+/)
            .filter((word) => word !== '');
          const shown = items.filter(({ Name, NodePool, Datacenter, NodeClass, ID }) =>
            words.every((word) =>
              [Name, NodePool, Datacenter, NodeClass, ID].some((text) => text.toLowerCase().includes(word)),
            ),
          );
          return (
            <>
              <Sums nodes={shown} />
              {nextToken !== '' && (
                <p class="hint">The first {counted(items.length, 'node')} are shown; there are more.</p>
              )}
              {shown.length === 0 ? (
                <NoMatch />
              ) : (
                <DataTable name="Nodes" columns={columns} rows={shown} idOf={({ ID }) => ID} />
              )}
            </>
          );
        }}
      </View>
    </Screen>
  );
}

function NoNodes() {
  return (
    <>
      <p>No node is connected, so nothing can run.</p>
      <p>
        <code>signalbox serve</code> is its own node unless it was started with <code>--no-runner</code>; other hosts
        join with <code>signalbox agent</code>.
      </p>
    </>
  );
}

function NoMatch() {
  return (
    <div class="state">
      <p>No node matches the filter.</p>
      <button type="button" onClick={() => setQuery({ q: undefined })}>
        Clear the filter
      </button>
    </div>
  );
}

/** Sums by pool. */
function Sums({ nodes }: { readonly nodes: readonly NodeEntry[] }) {
  const pools = new Map<string, { nodes: number; ready: number; memory: number; cpu: number }>();
  for (const node of nodes) {
    const sum = pools.get(node.NodePool) ?? { nodes: 0, ready: 0, memory: 0, cpu: 0 };
    sum.nodes += 1;
    if (standingOf(node).mark === 'good') sum.ready += 1;
    sum.memory += node.NodeResources?.Memory.MemoryMB ?? 0;
    sum.cpu += node.NodeResources?.Cpu.CpuShares ?? 0;
    pools.set(node.NodePool, sum);
  }
  return (
    <p class="hint">
      {[...pools]
        .map(
          ([pool, sum]) =>
            `${pool}: ${counted(sum.nodes, 'node')}, ${sum.ready} ready, ${bytesText(sum.memory * 1024 * 1024)}, ${sum.cpu} MHz`,
        )
        .join(' · ')}
    </p>
  );
}

export function NodeScreen({ id }: { readonly id: string }) {
  const node = useRead(`node:${id}`, { topics: ['Node'], read: ({ signal }) => box.nodes.read(id, { signal }) });
  const known = node.state.value.value;
  return (
    <Screen
      title={known?.Name ?? 'Node'}
      crumbs={[{ label: 'Nodes', to: addressOf(['nodes']) }]}
      beside={known !== undefined && <NodeHeader node={known} refresh={node.refresh} />}
    >
      <View
        reading={node}
        what="the node"
        needs="read on nodes"
        gone={<Link to={addressOf(['nodes'])}>All nodes</Link>}
      >
        {(value) => (
          <>
            <NodeWhatIf id={value.ID} name={value.Name} isReady={value.Status === 'ready'} />
            <NodeFacts node={value} />
            <NodeAllocations id={value.ID} />
          </>
        )}
      </View>
    </Screen>
  );
}

function NodeHeader({ node, refresh }: { readonly node: Node; readonly refresh: () => Promise<void> }) {
  const isEligible = node.SchedulingEligibility === 'eligible';
  const toggle = async (): Promise<void> => {
    const set = await box.nodes.setEligibility(node.ID, isEligible ? 'ineligible' : 'eligible');
    set.mapErr((error) => announce(`It was not done: ${messageOf(error)}`));
    await refresh();
  };
  const stopDrain = async (): Promise<void> => {
    const stopped = await box.nodes.drain(node.ID, { markEligible: true });
    stopped.mapErr((error) => announce(`It was not done: ${messageOf(error)}`));
    await refresh();
  };
  return (
    <>
      <Mark {...standingOf({ ...node, Drain: node.DrainStrategy != null })} />
      <span class="secondary">
        <Text of={node.NodePool} /> · <Text of={node.Datacenter} /> · changed <Time at={node.StatusUpdatedAt * 1000} />
      </span>
      <Id of={node.ID} what="the node's ID" />
      <span class="room" />
      {mayInArea('node', 'write') && (
        <div class="actions">
          {node.DrainStrategy == null && (
            <button type="button" onClick={() => void toggle()}>
              {isEligible ? 'Take nothing new' : 'Take allocations again'}
            </button>
          )}
          {node.DrainStrategy == null ? (
            <button type="button" class="danger" onClick={() => void askDrain(node, refresh)}>
              Drain…
            </button>
          ) : (
            <button type="button" onClick={() => void stopDrain()}>
              End the drain
            </button>
          )}
        </div>
      )}
    </>
  );
}

/** Says what would move before it is moved. */
async function askDrain(node: Node, refresh: () => Promise<void>): Promise<void> {
  const read = await box.nodes.allocations(node.ID);
  const live = read.isOk()
    ? read.value.value.filter(
        ({ ClientStatus, DesiredStatus }) =>
          DesiredStatus === 'run' && (ClientStatus === 'running' || ClientStatus === 'pending'),
      )
    : [];
  const jobs = [...new Set(live.map(({ JobID }) => JobID))];
  let hours = 1;
  ask({
    title: `Drain ${node.Name}`,
    body: (
      <>
        <p>
          {read.isErr()
            ? 'What runs on it cannot be read.'
            : `${counted(live.length, 'allocation')} of ${counted(jobs.length, 'job')} move to other nodes, as their migrate blocks say: `}
          <Text of={jobs.slice(0, 12).join(', ')} />
          {jobs.length > 12 ? ' and others' : ''}
        </p>
        <Field
          id="deadline"
          label="Deadline in hours"
          hint="What is left then is stopped. The node takes nothing new meanwhile."
        >
          <input
            id="deadline"
            type="number"
            min={0}
            step="any"
            defaultValue="1"
            onInput={(event) => (hours = event.currentTarget.valueAsNumber)}
          />
        </Field>
      </>
    ),
    action: 'Drain',
    isDestructive: true,
    run: () =>
      box.nodes.drain(node.ID, { spec: { Deadline: Math.round(hours * 3_600_000_000_000), IgnoreSystemJobs: false } }),
    after: () => void refresh(),
  });
}

function NodeFacts({ node }: { readonly node: Node }) {
  const facts: readonly (readonly [string, string])[] = [
    ['Address', node.HTTPAddr],
    ['Class', node.NodeClass],
    ['Memory', bytesText(node.NodeResources.Memory.MemoryMB * 1024 * 1024)],
    ['CPU', `${node.NodeResources.Cpu.CpuShares} MHz`],
    ['Disk', bytesText(node.NodeResources.Disk.DiskMB * 1024 * 1024)],
    [
      'Drivers',
      Object.entries(node.Drivers ?? {})
        .filter(([, { Healthy }]) => Healthy)
        .map(([name]) => name)
        .join(', '),
    ],
  ];
  return (
    <section class="panel">
      <h2>Facts</h2>
      <Facts of={facts.map(([name, value]) => value !== '' && [name, <Text of={value} />])} />
      <NameValues title="Metadata" values={node.Meta ?? {}} />
      <NameValues title="Attributes" values={node.Attributes ?? {}} />
    </section>
  );
}

function NameValues({ title, values }: { readonly title: string; readonly values: Readonly<Record<string, string>> }) {
  const entries = Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));
  if (entries.length === 0) return null;
  return (
    <details>
      <summary>
        {title}, {entries.length}
      </summary>
      <Facts style="mono" of={entries.map(([name, value]) => [<Text of={name} />, <Text of={value} />])} />
    </details>
  );
}

function NodeAllocations({ id }: { readonly id: string }) {
  const allocations = useRead(`node-allocations:${id}`, {
    topics: ['Allocation'],
    read: ({ signal }) =>
      box.allocations.list({
        namespace: '*',
        signal,
        filter: `NodeID == ${JSON.stringify(id)}`,
        perPage: 200,
        reverse: true,
      }),
  });
  return (
    <section>
      <h2>Allocations</h2>
      <View
        reading={allocations}
        what="the allocations"
        needs="read-job"
        isEmpty={({ items }) => items.length === 0}
        empty={<p>Nothing runs on it.</p>}
      >
        {({ items, nextToken }) => (
          <>
            {nextToken !== '' && <p class="hint">The latest {items.length} are shown.</p>}
            <AllocationTable name="Allocations of the node" allocations={items} withJob />
          </>
        )}
      </View>
    </section>
  );
}
