import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { box, type EntryOf, messageOf, type ValueOf } from '../../app/engine.js';
import { lazy } from '../../app/lazy.js';
import { keepEqual, useRead } from '../../app/read.js';
import { may, mayEdit } from '../../app/rights.js';
import { addressOf, Link, navigate } from '../../app/router.js';
import { Time } from '../../app/time.js';
import { isDeploying } from '../../job-rules.js';
import { ask } from '../../parts/dialog.js';
import { Facts, Field } from '../../parts/form.js';
import { Mark, StatusMark } from '../../parts/marks.js';
import { type Column, DataTable } from '../../parts/table.js';
import { Copy, DataLink, Id, LongText, Text } from '../../parts/text.js';
import { announce } from '../../parts/toasts.js';
import { View } from '../../parts/view.js';
import { counted } from '../../rules/durations.js';
import { DeploymentPanel } from './deployments.js';
import { declaredMeta } from './dispatch.js';
import { isParent, type JobFacts } from './job.js';
import { Recent } from './recent.js';

const TryChange = lazy(() => import('./try-change.js').then((each) => each.TryChange));

export function OverviewTab(facts: JobFacts) {
  const { job } = facts;
  return (
    <>
      {job.Status === 'pending' && <p class="notice waiting">The job has not been scheduled yet.</p>}
      <About {...facts} />
      <Restart {...facts} />
      {job.Dispatched && <Input {...facts} />}
      {job.Type === 'service' && <LatestDeployment {...facts} />}
      {isParent(job) ? <Launcher {...facts} /> : <Groups {...facts} />}
      <Recent {...facts} />
      {!isParent(job) && <Allocations {...facts} />}
    </>
  );
}

/** What the definition says to people: its `ui` block, as text and as links that say where they lead. */
function About({ job: { UI } }: JobFacts) {
  const links = UI?.Links ?? [];
  if (!UI?.Description && links.length === 0) return null;
  return (
    <section class="panel" aria-label="About the job">
      {UI?.Description && (
        <pre>
          <Text of={UI.Description} />
        </pre>
      )}
      <p class="actions">
        {links.map(({ Label, Url }) => (
          <DataLink key={Url} of={Url} label={Label} />
        ))}
      </p>
    </section>
  );
}

/** What an instance was dispatched with; the same again, or changed. */
function Input({ namespace, job }: JobFacts) {
  const meta = declaredMeta(job);
  const payload = job.Payload ? decodedPayload(job.Payload) : '';
  const again = async (): Promise<void> => {
    const dispatched = await box.jobs.dispatch(job.ParentID, {
      namespace,
      meta,
      ...(job.Payload ? { payload: job.Payload } : {}),
    });
    dispatched.match(
      ({ dispatchedJobId }) => navigate(addressOf(['jobs', namespace, dispatchedJobId])),
      (error) => announce(`It was not dispatched: ${messageOf(error)}`),
    );
  };
  const prefilled = Object.fromEntries(Object.entries(meta).map(([name, value]) => [`meta.${name}`, value]));
  return (
    <section class="panel">
      <div class="line">
        <h2 class="what">Input</h2>
        {may('jobs.dispatch', namespace) && (
          <>
            <button type="button" onClick={() => void again()}>
              Run again
            </button>
            <Link
              class="button"
              to={addressOf(['jobs', namespace, job.ParentID, 'dispatch'], {
                ...prefilled,
                payload: payload.length > 4000 ? undefined : payload,
              })}
            >
              Edit and run
            </Link>
          </>
        )}
      </div>
      <Facts of={Object.entries(meta).map(([name, value]) => [<Text of={name} />, <Text of={value} />])} />
      {payload !== '' && (
        <pre>
          <LongText of={payload} />
        </pre>
      )}
      {payload === '' && Object.keys(meta).length === 0 && (
        <p class="hint">It was dispatched without meta and payload.</p>
      )}
    </section>
  );
}

function decodedPayload(base64: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (unit) => unit.charCodeAt(0)));
}

function Launcher({ namespace, id }: JobFacts) {
  return (
    <section class="panel">
      <h2>Instances</h2>
      <p>
        This job runs nothing itself: it launches instances.{' '}
        <Link to={addressOf(['jobs', namespace, id, 'runs'])}>Its runs</Link>
      </p>
    </section>
  );
}

function Restart({ namespace, id }: JobFacts) {
  const restart = useRead(`restart:${namespace}/${id}`, {
    topics: ['Allocation', 'Job'],
    read: ({ signal }) => box.jobs.readRestart(id, { namespace, signal }),
  });
  const { value } = restart.state.value;
  if (value == null || (value.state !== 'running' && value.failures.length === 0)) return null;
  return (
    <section class="panel">
      <h2>Restart</h2>
      <p role="status">
        {value.restarted} of {counted(value.total, 'allocation')} restarted, {value.atOnce} at a time
        {value.failed > 0 ? `, ${value.failed} failed` : ''} · {value.state === 'running' ? 'under way' : value.state} ·
        since <Time at={value.startedAt} />
      </p>
      {value.state === 'running' && may('jobs.restart', namespace) && (
        <button
          type="button"
          onClick={() => void box.jobs.cancelRestart(id, { namespace }).then(() => restart.refresh())}
        >
          Stop restarting
        </button>
      )}
    </section>
  );
}

function LatestDeployment(facts: JobFacts) {
  const { namespace, id } = facts;
  const deployment = useRead(`deployment-of:${namespace}/${id}`, {
    topics: ['Deployment', 'Allocation', 'Job'],
    read: ({ signal }) => box.jobs.latestDeployment(id, { namespace, signal }),
  });
  const { value } = deployment.state.value;
  if (value == null || !(isDeploying(value) || value.Status === 'failed')) return null;
  return <DeploymentPanel deployment={value} refresh={deployment.refresh} />;
}

function Groups(facts: JobFacts) {
  const { namespace, id, job, summary } = facts;
  const scale = useRead(`scale:${namespace}/${id}`, {
    topics: ['Job', 'Allocation', 'Deployment'],
    read: ({ signal }) => box.jobs.scaleStatus(id, { namespace, signal }),
  });
  const counts = summary.state.value.value?.Summary ?? {};
  const waiting = Object.values(counts).reduce((sum, group) => sum + group.Queued, 0);
  return (
    <section class="panel">
      <h2>Groups</h2>
      <View reading={scale} what="the groups" needs={`read-job in ${namespace}`}>
        {(status) => (
          <div class="stack">
            {(job.TaskGroups ?? []).map((group) => {
              const now = status.TaskGroups[group.Name];
              const queued = counts[group.Name]?.Queued ?? 0;
              return (
                <div class="line" key={group.Name}>
                  <strong class="what">
                    <Text of={group.Name} />
                  </strong>
                  <span>wanted {now?.Desired ?? group.Count}</span>
                  <span>running {now?.Running ?? 0}</span>
                  {job.Type === 'service' && <span>healthy {now?.Healthy ?? 0}</span>}
                  {queued > 0 && <Mark mark="waiting" word={`${queued} waiting`} />}
                  <Scale
                    namespace={namespace}
                    id={id}
                    group={group.Name}
                    count={now?.Desired ?? group.Count}
                    isStopped={job.Stop}
                  />
                </div>
              );
            })}
          </div>
        )}
      </View>
      {waiting > 0 && <Why {...facts} />}
    </section>
  );
}

interface ScaleProps {
  readonly namespace: string;
  readonly id: string;
  readonly group: string;
  readonly count: number;
  readonly isStopped: boolean;
}

function Scale({ namespace, id, group, count, isStopped }: ScaleProps) {
  if (isStopped || !may('jobs.scale', namespace)) return null;
  const open = (): void => {
    let wanted = count;
    ask({
      title: `Scale ${group}`,
      body: (
        <Field id="count" label="Allocations" hint={`Now ${count}. The change is a new version of the job.`}>
          <input
            id="count"
            type="number"
            min={0}
            defaultValue={String(count)}
            onInput={(event) => (wanted = event.currentTarget.valueAsNumber)}
          />
        </Field>
      ),
      action: 'Scale',
      run: () => box.jobs.scale(id, group, { namespace, count: wanted, message: 'scaled on the web page' }),
      after: () =>
        announce(`${group} has ${wanted} wanted`, {
          label: 'Undo',
          run: () =>
            void box.jobs
              .scale(id, group, { namespace, count, message: 'scaled back on the web page' })
              .then(() => undefined),
        }),
    });
  };
  return (
    <button type="button" onClick={open}>
      Scale…
    </button>
  );
}

/** Why allocations wait, in words, with the nodes that are nearest to taking one. */
function Why({ namespace, id, job }: JobFacts) {
  const placement = useRead(`placement:${namespace}/${id}`, {
    topics: ['Job', 'Allocation', 'Node'],
    read: ({ signal }) => box.jobs.placement(id, { namespace, signal, nodes: 5 }),
  });
  return (
    <View reading={placement} what="why allocations wait" needs={`read-job in ${namespace}`}>
      {({ groups }) => (
        <div class="stack">
          {groups
            .filter(({ waiting }) => waiting > 0)
            .map((group) => (
              <div key={group.group} class="notice waiting">
                <p>
                  <strong>
                    <Text of={group.group} />: {group.waiting} waiting.
                  </strong>{' '}
                  <Text of={group.summary} /> <Copy value={group.summary} what="the reason" />
                </p>
                <NodeReasons group={group} namespace={namespace} id={id} />
                {may('jobs.simulate', namespace) && (
                  <Disclosed label="Try a change">
                    <TryChange key={job.Version} {...{ namespace, id, job, group }} />
                  </Disclosed>
                )}
              </div>
            ))}
        </div>
      )}
    </View>
  );
}

/** Its content is made and loaded when it is opened. */
function Disclosed({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{label}</summary>
      {isOpen && children}
    </details>
  );
}

type GroupPlacement = ValueOf<typeof box.jobs.placement>['groups'][number];

function NodeReasons({
  group,
  namespace,
  id,
}: {
  readonly group: GroupPlacement;
  readonly namespace: string;
  readonly id: string;
}) {
  return (
    <details>
      <summary>
        {counted(group.examined, 'node')} examined, {group.fitting} would take one more
      </summary>
      <ul class="stack">
        {group.nodes.map((node, at) => (
          <li key={node.nodeId || at}>
            {node.nodeId === '' ? (
              <strong>A node</strong>
            ) : (
              <Link to={addressOf(['nodes', node.nodeId])}>
                <Text of={node.nodeName} />
              </Link>
            )}
            {node.obstacles.length === 0 ? ' would take it' : ''}
            <ul>
              {node.obstacles.map((obstacle) => (
                <li key={obstacle.message}>
                  <Text of={obstacle.message} />
                  {obstacle.changes.length > 0 && (
                    <small>
                      {' '}
                      Enough would be: <Text of={obstacle.changes.map(changeText).join(', or ')} />
                    </small>
                  )}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
      {mayEdit(namespace) && <Link to={addressOf(['jobs', namespace, id, 'plan'])}>Try a change in the editor</Link>}
    </details>
  );
}

type Change = GroupPlacement['nodes'][number]['obstacles'][number]['changes'][number];

/** A change that would be enough: of the job or the node. */
function changeText({ of, subject, from, to }: Change): string {
  const before = from === '' ? '' : ` instead of ${from}`;
  return to === '' ? `${of} without ${subject} ${from}` : `${of}: ${subject} ${to}${before}`;
}

export type AllocationEntry = EntryOf<typeof box.jobs.allocations>;

function Allocations({ namespace, id }: JobFacts) {
  const allocations = useRead(`allocations:${namespace}/${id}`, {
    topics: ['Allocation'],
    read: ({ signal }) => box.jobs.allocations(id, { namespace, signal }),
    keep: (next, previous) => keepEqual(next, previous, ({ ID }) => ID),
  });
  return (
    <section>
      <h2>Allocations</h2>
      <View
        reading={allocations}
        what="the allocations"
        needs={`read-job in ${namespace}`}
        isEmpty={(list) => list.length === 0}
        empty={<p>The job has no allocations. Those that have ended are collected after some hours.</p>}
      >
        {(list) => (
          <AllocationTable name="Allocations" allocations={[...list].sort((a, b) => b.CreateIndex - a.CreateIndex)} />
        )}
      </View>
    </section>
  );
}

export function AllocationTable({
  name,
  allocations,
  withJob = false,
}: {
  readonly name: string;
  readonly allocations: readonly AllocationEntry[];
  readonly withJob?: boolean;
}) {
  return (
    <DataTable
      name={name}
      columns={withJob ? [jobColumn, ...columns] : columns}
      rows={allocations}
      idOf={({ ID }) => ID}
    />
  );
}

const jobColumn: Column<AllocationEntry> = {
  key: 'job',
  title: 'Job',
  cell: ({ Namespace, JobID }) => (
    <Link to={addressOf(['jobs', Namespace, JobID])}>
      <Text of={JobID} />
    </Link>
  ),
};

const columns: readonly Column<AllocationEntry>[] = [
  {
    key: 'allocation',
    title: 'Allocation',
    cell: ({ ID, Name }) => (
      <>
        <Link to={addressOf(['allocs', ID])} data-row-link>
          <Text of={Name.replace(/^.*\./, '')} />
        </Link>{' '}
        <Id of={ID} what="the allocation's ID" />
      </>
    ),
  },
  {
    key: 'state',
    title: 'State',
    cell: ({ ClientStatus, Outcome, DesiredStatus }) => (
      <>
        <StatusMark status={Outcome ?? ClientStatus} />{' '}
        {DesiredStatus !== 'run' && Outcome === undefined && <small>({DesiredStatus} wanted)</small>}
      </>
    ),
  },
  { key: 'version', title: 'v', isNumber: true, cell: ({ JobVersion }) => JobVersion },
  {
    key: 'health',
    title: 'Health',
    cell: ({ DeploymentStatus }) =>
      DeploymentStatus === null ? (
        <span class="secondary">–</span>
      ) : (
        <>
          {DeploymentStatus.Canary ? 'canary, ' : ''}
          {DeploymentStatus.Healthy === true ? (
            <Mark mark="good" word="healthy" />
          ) : DeploymentStatus.Healthy === false ? (
            <Mark mark="failed" word="unhealthy" />
          ) : (
            'not yet known'
          )}
        </>
      ),
  },
  {
    key: 'node',
    title: 'Node',
    cell: ({ NodeID, NodeName }) => (
      <Link to={addressOf(['nodes', NodeID])}>
        <Text of={NodeName} />
      </Link>
    ),
  },
  { key: 'changed', title: 'Changed', cell: ({ ModifyTime }) => <Time at={ModifyTime} /> },
  {
    key: 'logs',
    title: 'Logs',
    cell: ({ ID, Namespace, TaskStates }) => (
      <LogLinks id={ID} namespace={Namespace} tasks={Object.keys(TaskStates ?? {})} />
    ),
  },
];

function LogLinks({
  id,
  namespace,
  tasks,
}: {
  readonly id: string;
  readonly namespace: string;
  readonly tasks: readonly string[];
}) {
  if (!may('files.readLog', namespace)) return null;
  return (
    <span class="chips">
      {tasks.slice(0, 4).map((task) => (
        <Link key={task} to={addressOf(['allocs', id, 'logs', task, 'stdout'])}>
          <Text of={task} />
        </Link>
      ))}
    </span>
  );
}
