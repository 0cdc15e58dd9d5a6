import { box, type EntryOf } from '../app/engine.js';
import { keepEqual, useRead } from '../app/read.js';
import { addressOf, Link, place, setQuery } from '../app/router.js';
import { Screen } from '../app/shell.js';
import { Choice } from '../parts/form.js';
import { type Column, DataTable } from '../parts/table.js';
import { Text } from '../parts/text.js';
import { View } from '../parts/view.js';
import { capacities, groupedBy, type NodeCapacity, percent, sumOf } from '../rules/capacity.js';
import { bytesText, counted, countText } from '../rules/durations.js';
import { visible } from '../rules/safe-text.js';
import { NodesTabs } from './nodes.js';

type NodeEntry = EntryOf<typeof box.nodes.list>;
type Capacity = NodeCapacity<NodeEntry>;

const mostNodes = 1000;
const mostAllocations = 5000;
const filters = [
  ['pool', 'pools', ({ NodePool }: NodeEntry) => NodePool],
  ['datacenter', 'datacenters', ({ Datacenter }: NodeEntry) => Datacenter],
  ['class', 'classes', ({ NodeClass }: NodeEntry) => NodeClass],
] as const;

const memoryText = (mebibytes: number): string => bytesText(mebibytes * 1024 * 1024);

/** What is allocated of the capacity, by pool and datacenter. */
export function TopologyScreen() {
  const nodes = useRead('topology:nodes', {
    topics: ['Node'],
    read: ({ signal }) => box.nodes.list({ signal, resources: true, perPage: mostNodes }),
    keep: (next, previous) => ({ ...next, items: keepEqual(next.items, previous.items, ({ ID }) => ID) }),
  });
  const allocations = useRead('topology:allocations', {
    topics: ['Allocation'],
    read: ({ signal }) =>
      box.allocations.list({
        signal,
        namespace: '*',
        resources: true,
        taskStates: false,
        perPage: mostAllocations,
        filter: 'ClientStatus != "complete" and ClientStatus != "failed" and ClientStatus != "lost"',
      }),
  });
  return (
    <Screen title="Capacity">
      <NodesTabs current="capacity" />
      <View
        reading={nodes}
        what="the nodes"
        needs="read on nodes"
        isEmpty={({ items }) => items.length === 0}
        empty={<p>No node is connected.</p>}
      >
        {({ items, nextToken }) => (
          <View reading={allocations} what="the allocations" needs="read-job">
            {(live) => (
              <>
                {nextToken !== '' && (
                  <p class="hint">The first {counted(items.length, 'node')} are shown; there are more.</p>
                )}
                {live.nextToken !== '' && (
                  <p class="notice waiting">
                    Only the first {counted(live.items.length, 'allocation')} are counted; there are more, so that more
                    is allocated than is shown.
                  </p>
                )}
                <Nodes all={capacities(items, live.items)} />
              </>
            )}
          </View>
        )}
      </View>
    </Screen>
  );
}

function Nodes({ all }: { readonly all: readonly Capacity[] }) {
  const { query } = place.value;
  const shown = all.filter(({ node }) =>
    filters.every(([name, , of]) => {
      const wanted = query.get(name);
      return wanted === null || of(node) === wanted;
    }),
  );
  const isTable = query.get('view') === 'table';
  return (
    <>
      <search>
        <div class="toolbar">
          {filters.map(([name, plural, of]) => (
            <Filter key={name} name={name} plural={plural} values={all.map(({ node }) => of(node))} />
          ))}
          <label>
            <input
              type="checkbox"
              checked={isTable}
              onChange={(event) => setQuery({ view: event.currentTarget.checked ? 'table' : undefined })}
            />
            As a table
          </label>
        </div>
      </search>
      <p>
        <strong>{counted(shown.length, 'node')}:</strong> <SumText list={shown} />
      </p>
      {shown.length === 0 ? (
        <div class="state">
          <p>No node matches the filter.</p>
          <button type="button" onClick={() => setQuery({ pool: undefined, datacenter: undefined, class: undefined })}>
            Clear the filter
          </button>
        </div>
      ) : isTable ? (
        <DataTable name="Capacity" columns={columns} rows={shown} idOf={({ node }) => node.ID} />
      ) : (
        <Groups list={shown} />
      )}
    </>
  );
}

interface FilterProps {
  readonly name: string;
  readonly plural: string;
  readonly values: readonly string[];
}

function Filter({ name, plural, values }: FilterProps) {
  const asked = place.value.query.get(name);
  const known = [...new Set([...values, ...(asked === null ? [] : [asked])])].filter((value) => value !== '').sort();
  if (known.length < 2 && asked === null) return null;
  return (
    <Choice
      label={<span class="sr">{name}</span>}
      value={asked ?? ''}
      change={(value) => setQuery({ [name]: value || undefined })}
      options={[['', `all ${plural}`], ...known]}
    />
  );
}

function SumText({ list }: { readonly list: readonly Capacity[] }) {
  const { total, allocated, count } = sumOf(list);
  return (
    <>
      memory {memoryText(allocated.memory)} of {memoryText(total.memory)} ({percent(allocated.memory, total.memory)} %),
      CPU {countText(allocated.cpu)} of {countText(total.cpu)} MHz ({percent(allocated.cpu, total.cpu)} %),{' '}
      {counted(count, 'allocation')}
    </>
  );
}

function Groups({ list }: { readonly list: readonly Capacity[] }) {
  return (
    <>
      <p class="hint">
        Each box is a node: above its memory, below its CPU, filled as far as it is allocated. The name shows when it is
        focused or pointed at.
      </p>
      {groupedBy(list, ({ node }) => node.NodePool).map(([pool, ofPool]) => (
        <section key={pool} class="panel" aria-label={`Pool ${pool}`}>
          <h2>
            Pool <Text of={pool} />
          </h2>
          <p>
            <SumText list={ofPool} />
          </p>
          {groupedBy(ofPool, ({ node }) => node.Datacenter).map(([datacenter, nodes]) => (
            <section key={datacenter} aria-label={`Datacenter ${datacenter}`}>
              <h3>
                <Text of={datacenter} />, {counted(nodes.length, 'node')}
              </h3>
              <ul class="density">
                {nodes.map((each) => (
                  <Box key={each.node.ID} {...each} />
                ))}
              </ul>
            </section>
          ))}
        </section>
      ))}
    </>
  );
}

/** A node in two elements, however many there are. */
function Box({ node, total, allocated, count }: Capacity) {
  const memory = percent(allocated.memory, total.memory);
  const cpu = percent(allocated.cpu, total.cpu);
  const name = visible(node.Name);
  const text = `${name}: memory ${memory} %, CPU ${cpu} %, ${counted(count, 'allocation')}`;
  const isOut = node.Status !== 'ready' || node.Drain || node.SchedulingEligibility !== 'eligible';
  return (
    <li
      class={isOut ? 'out' : ''}
      data-text={isOut ? `${text}; takes nothing new` : text}
      style={{ '--memory': `${Math.min(100, memory)}%`, '--cpu': `${Math.min(100, cpu)}%` }}
    >
      <Link to={addressOf(['nodes', node.ID])} aria-label={isOut ? `${text}; takes nothing new` : text}>
        {''}
      </Link>
    </li>
  );
}

const columns: readonly Column<Capacity>[] = [
  {
    key: 'name',
    title: 'Node',
    cell: ({ node }) => (
      <Link to={addressOf(['nodes', node.ID])} data-row-link>
        <Text of={node.Name} />
      </Link>
    ),
  },
  { key: 'pool', title: 'Pool', cell: ({ node }) => <Text of={node.NodePool} /> },
  { key: 'datacenter', title: 'Datacenter', cell: ({ node }) => <Text of={node.Datacenter} /> },
  { key: 'class', title: 'Class', cell: ({ node }) => <Text of={node.NodeClass} /> },
  {
    key: 'memory',
    title: 'Memory',
    isNumber: true,
    cell: ({ total, allocated }) =>
      `${memoryText(allocated.memory)} of ${memoryText(total.memory)} (${percent(allocated.memory, total.memory)} %)`,
  },
  {
    key: 'cpu',
    title: 'CPU',
    isNumber: true,
    cell: ({ total, allocated }) =>
      `${countText(allocated.cpu)} of ${countText(total.cpu)} MHz (${percent(allocated.cpu, total.cpu)} %)`,
  },
  { key: 'count', title: 'Allocations', isNumber: true, cell: ({ count }) => countText(count) },
];
