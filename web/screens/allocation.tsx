import { ResultAsync } from 'neverthrow';
import { box, messageOf, type ValueOf } from '../app/engine.js';
import { useKey } from '../app/keys.js';
import { lazy } from '../app/lazy.js';
import { useRead } from '../app/read.js';
import { may, mayRunInTasks } from '../app/rights.js';
import { addressOf, Link, navigate, place, setQuery } from '../app/router.js';
import { mountUrl } from '../app/settings.js';
import { Screen, Tabs } from '../app/shell.js';
import { Time } from '../app/time.js';
import { ask } from '../parts/dialog.js';
import { Facts, Field, Select } from '../parts/form.js';
import { StatusMark } from '../parts/marks.js';
import { Id, LongText, Text } from '../parts/text.js';
import { announce } from '../parts/toasts.js';
import { View } from '../parts/view.js';
import { bytesText, counted } from '../rules/durations.js';
import { Logs } from './logs.js';

const ExecTab = lazy(() => import('./terminal.js').then((each) => each.ExecTab));
const ActionsTab = lazy(() => import('./terminal.js').then((each) => each.ActionsTab));

type Allocation = NonNullable<ValueOf<typeof box.allocations.read>>;

interface AllocationProps {
  readonly id: string;
  /** Below the allocation: `logs`, task, stream; `files` and a path; `actions`; `exec` and a task. */
  readonly below: readonly string[];
}

export function AllocationScreen({ id, below }: AllocationProps) {
  const allocation = useRead(`allocation:${id}`, {
    topics: ['Allocation'],
    read: ({ signal }) => box.allocations.read(id, { signal }),
  });
  const known = allocation.state.value.value;
  return (
    <Screen
      title={known?.Name ?? 'Allocation'}
      crumbs={
        known === undefined
          ? [{ label: 'Jobs', to: addressOf(['jobs']) }]
          : [
              { label: 'Jobs', to: addressOf(['jobs']) },
              { label: known.Namespace, to: addressOf(['jobs'], { ns: known.Namespace }) },
              { label: known.JobID, to: addressOf(['jobs', known.Namespace, known.JobID]) },
            ]
      }
      beside={known !== undefined && <Header allocation={known} refresh={allocation.refresh} />}
    >
      <View
        reading={allocation}
        what="the allocation"
        needs="read-job"
        gone={<p>Allocations that have ended are collected after some hours; the runs of their jobs stay longer.</p>}
      >
        {(value) => <Content allocation={value} below={below} />}
      </View>
    </Screen>
  );
}

function Header({ allocation, refresh }: { readonly allocation: Allocation; readonly refresh: () => Promise<void> }) {
  const { ID, Namespace, ClientStatus, Outcome, DesiredStatus, JobVersion, NodeID, NodeName } = allocation;
  const isLive = ClientStatus === 'running' || ClientStatus === 'pending';
  const restart = async (): Promise<void> => {
    const restarted = await box.allocations.restart(ID, { namespace: Namespace });
    announce(restarted.isErr() ? `It was not restarted: ${messageOf(restarted.error)}` : 'Its running tasks restart');
    await refresh();
  };
  return (
    <>
      <StatusMark status={Outcome ?? ClientStatus} />
      {DesiredStatus !== 'run' && isLive && <small>({DesiredStatus} wanted)</small>}
      <Id of={ID} what="the allocation's ID" />
      <span class="secondary">
        v{JobVersion} on{' '}
        <Link to={addressOf(['nodes', NodeID])}>
          <Text of={NodeName} />
        </Link>
      </span>
      <span class="room" />
      {isLive && may('jobs.restart', Namespace) && (
        <div class="actions">
          <button type="button" onClick={() => void restart()}>
            Restart
          </button>
          <button type="button" onClick={() => askSignal(allocation)}>
            Signal…
          </button>
          <button
            type="button"
            class="danger"
            onClick={() =>
              ask({
                title: 'Stop the allocation',
                body: <p>It ends and is replaced if the job still needs it.</p>,
                action: 'Stop',
                isDestructive: true,
                run: () => box.allocations.stop(ID),
                after: () => void refresh(),
              })
            }
          >
            Stop…
          </button>
        </div>
      )}
    </>
  );
}

const signals = ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGUSR1', 'SIGUSR2', 'SIGQUIT', 'SIGKILL'];

function askSignal({ ID, Namespace, TaskStates }: Allocation): void {
  let wanted = 'SIGHUP';
  let task = '';
  ask({
    title: 'Send a signal',
    body: (
      <>
        <Field id="signal" label="Signal">
          <Select id="signal" change={(chosen) => (wanted = chosen)} options={signals} />
        </Field>
        <Field id="task" label="To">
          <Select
            id="task"
            change={(chosen) => (task = chosen)}
            options={[['', 'all running tasks'], ...Object.keys(TaskStates ?? {})]}
          />
        </Field>
      </>
    ),
    action: 'Send',
    run: () => box.allocations.signal(ID, wanted, { namespace: Namespace, ...(task === '' ? {} : { task }) }),
  });
}

function Content({ allocation, below }: { readonly allocation: Allocation; readonly below: readonly string[] }) {
  const { ID, Namespace, TaskStates, JobID } = allocation;
  const tasks = Object.keys(TaskStates ?? {});
  const [first] = tasks;
  const [view = '', ...rest] = below;
  const logs = first === undefined ? undefined : addressOf(['allocs', ID, 'logs', first, 'stdout']);
  const readsLogs = may('files.readLog', Namespace);
  useKey('l', logs === undefined || !readsLogs ? undefined : () => navigate(logs));
  return (
    <>
      <Tabs
        current={view}
        tabs={[
          { name: '', label: 'Overview', to: addressOf(['allocs', ID]) },
          ...(logs === undefined || !readsLogs ? [] : [{ name: 'logs', label: 'Logs', to: logs }]),
          ...(may('files.list', Namespace)
            ? [{ name: 'files', label: 'Files', to: addressOf(['allocs', ID, 'files']) }]
            : []),
          ...(mayRunInTasks(Namespace)
            ? [{ name: 'actions', label: 'Actions', to: addressOf(['allocs', ID, 'actions']) }]
            : []),
          ...(first !== undefined && mayRunInTasks(Namespace)
            ? [{ name: 'exec', label: 'Exec', to: addressOf(['allocs', ID, 'exec', first]) }]
            : []),
        ]}
      />
      {view === '' && <Overview allocation={allocation} />}
      {view === 'logs' && rest[0] !== undefined && (
        <Logs key={rest.join('/')} id={ID} task={rest[0]} tasks={tasks} view={rest[1] ?? 'stdout'} />
      )}
      {view === 'exec' && rest[0] !== undefined && (
        <ExecTab key={rest[0]} id={ID} namespace={Namespace} task={rest[0]} tasks={tasks} />
      )}
      {view === 'files' && <Files id={ID} namespace={Namespace} path={rest} />}
      {view === 'actions' && (
        <ActionsTab
          namespace={Namespace}
          jobId={JobID}
          allocations={[{ id: ID, group: allocation.TaskGroup, name: allocation.Name }]}
        />
      )}
    </>
  );
}

function Overview({ allocation }: { readonly allocation: Allocation }) {
  const {
    ID,
    TaskStates,
    PreviousAllocation,
    NextAllocation,
    ClientDescription,
    DesiredDescription,
    CreateTime,
    ModifyTime,
    ClientStatus,
  } = allocation;
  return (
    <>
      {ClientDescription ? (
        <p class="notice">
          <Text of={ClientDescription} /> {DesiredDescription ? <Text of={`(${DesiredDescription})`} /> : ''}
        </p>
      ) : null}
      <p class="hint">
        Created <Time at={CreateTime} />, changed <Time at={ModifyTime} />
        {PreviousAllocation ? (
          <>
            {' '}
            · replaces <Link to={addressOf(['allocs', PreviousAllocation])}>{PreviousAllocation.slice(0, 8)}</Link>
          </>
        ) : null}
        {NextAllocation ? (
          <>
            {' '}
            · replaced by <Link to={addressOf(['allocs', NextAllocation])}>{NextAllocation.slice(0, 8)}</Link>
          </>
        ) : null}
      </p>
      {Object.entries(TaskStates ?? {}).map(([name, state]) => (
        <Task key={name} id={ID} namespace={allocation.Namespace} name={name} state={state} />
      ))}
      {ClientStatus === 'running' && <Usage id={ID} />}
      <Checks id={ID} />
    </>
  );
}

type TaskState = NonNullable<Allocation['TaskStates']>[string];

function Task({
  id,
  namespace,
  name,
  state,
}: {
  readonly id: string;
  readonly namespace: string;
  readonly name: string;
  readonly state: TaskState;
}) {
  const events = [...(state.Events ?? [])].reverse();
  const ended = state.State === 'dead' ? (state.Failed ? 'failed' : 'complete') : state.State;
  return (
    <section class="panel">
      <div class="line">
        <h2 class="what">
          <Text of={name} />
        </h2>
        <StatusMark status={ended} />
        {state.Restarts > 0 && <span>{counted(state.Restarts, 'restart')}</span>}
        {may('files.readLog', namespace) && (
          <Link to={addressOf(['allocs', id, 'logs', name, state.Failed ? 'stderr' : 'stdout'])}>Logs</Link>
        )}
      </div>
      <ol class="timeline">
        {events.map((event) => (
          <li key={`${event.Time} ${event.Type}`}>
            <Time at={event.Time} />
            <span>
              <strong>
                <Text of={event.Type} />
              </strong>{' '}
              <Text of={event.DisplayMessage} />
              {event.ExitCode !== 0 && !event.DisplayMessage.includes(String(event.ExitCode))
                ? ` (exit ${event.ExitCode})`
                : ''}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Usage({ id }: { readonly id: string }) {
  const usage = useRead(`usage:${id}`, { every: 5000, read: ({ signal }) => box.allocations.stats(id, { signal }) });
  const { value } = usage.state.value;
  const tasks = Object.entries(value?.tasks ?? {});
  if (tasks.length === 0) return null;
  return (
    <section class="panel">
      <h2>Usage</h2>
      <Facts
        of={tasks.map(([name, { residentBytes, userPercent, systemPercent }]) => [
          <Text of={name} />,
          `${bytesText(residentBytes)} of memory, ${Math.round(userPercent + systemPercent)} % of a processor`,
        ])}
      />
    </section>
  );
}

interface CheckResult {
  readonly Check?: string;
  readonly Service?: string;
  readonly Status?: string;
  readonly Output?: string;
  readonly Timestamp?: number;
}

function Checks({ id }: { readonly id: string }) {
  const checks = useRead(`checks:${id}`, {
    topics: ['Service', 'Allocation'],
    read: ({ signal }) => box.allocations.checks(id, { signal }),
  });
  const results = Object.values((checks.state.value.value ?? {}) as Readonly<Record<string, CheckResult>>);
  if (results.length === 0) return null;
  return (
    <section class="panel">
      <h2>Checks</h2>
      {results.map((check) => (
        <div class="line" key={`${check.Service} ${check.Check}`}>
          <StatusMark status={check.Status ?? 'pending'} />
          <span class="what">
            <Text of={check.Service} /> · <Text of={check.Check} />{' '}
            <small>
              <Text of={check.Output} />
            </small>
          </span>
          <Time at={(check.Timestamp ?? 0) * 1000} />
        </div>
      ))}
    </section>
  );
}

/** The most bytes of a file that are shown. */
const mostShown = 64 * 1024;

function Files({
  id,
  namespace,
  path,
}: {
  readonly id: string;
  readonly namespace: string;
  readonly path: readonly string[];
}) {
  const folder = `/${path.join('/')}`;
  const file = place.value.query.get('file') ?? undefined;
  const files = useRead(`files:${id}:${folder}`, {
    read: ({ signal }) => box.files.list(id, { namespace, path: folder, signal }),
  });
  return (
    <>
      <ol class="crumbs">
        <li>
          <Link to={addressOf(['allocs', id, 'files'])}>files</Link>
        </li>
        {path.map((name, at) => (
          <li key={`${at} ${name}`}>
            <Link to={addressOf(['allocs', id, 'files', ...path.slice(0, at + 1)])}>
              <Text of={name} />
            </Link>
          </li>
        ))}
      </ol>
      <View
        reading={files}
        what="the folder"
        needs={`read-fs in ${namespace}`}
        isEmpty={(list) => list.length === 0}
        empty={<p>The folder is empty.</p>}
      >
        {(list) => (
          <div class="panel">
            {list.map(({ Name, IsDir, Size, ModTime }) => (
              <div class="line" key={Name}>
                <span class="what">
                  {IsDir ? (
                    <Link to={addressOf(['allocs', id, 'files', ...path, Name])}>
                      <Text of={Name} />/
                    </Link>
                  ) : (
                    <button type="button" class="quiet" onClick={() => setQuery({ file: Name })}>
                      <Text of={Name} />
                    </button>
                  )}
                </span>
                {!IsDir && <span>{bytesText(Size)}</span>}
                <Time at={ModTime} />
                {!IsDir && <Save id={id} namespace={namespace} path={`${folder === '/' ? '' : folder}/${Name}`} />}
              </div>
            ))}
          </div>
        )}
      </View>
      {file !== undefined && (
        <FileContent id={id} namespace={namespace} path={`${folder === '/' ? '' : folder}/${file}`} />
      )}
    </>
  );
}

function Save({ id, namespace, path }: { readonly id: string; readonly namespace: string; readonly path: string }) {
  const url = new URL(`v1/client/fs/cat/${encodeURIComponent(id)}`, mountUrl);
  url.search = new URLSearchParams({ namespace, path, download: 'true' }).toString();
  return (
    <a href={url.href} download>
      Download
    </a>
  );
}

function FileContent({
  id,
  namespace,
  path,
}: {
  readonly id: string;
  readonly namespace: string;
  readonly path: string;
}) {
  const content = useRead(`file:${id}:${path}`, {
    read: ({ signal }) => firstOf(box.files.readAt(id, { namespace, path, offset: 0, limit: mostShown, signal })),
  });
  return (
    <section class="panel">
      <h2>
        <Text of={path} />
      </h2>
      <View reading={content} what="the file" needs={`read-fs in ${namespace}`}>
        {({ text, size }) => (
          <>
            {size >= mostShown && <p class="hint">The first {bytesText(mostShown)} are shown.</p>}
            <pre>
              <LongText of={text} />
            </pre>
          </>
        )}
      </View>
    </section>
  );
}

/** The first bytes of a file as a string. */
function firstOf(
  pieces: AsyncIterable<Uint8Array>,
): ResultAsync<{ readonly text: string; readonly size: number }, { readonly type: string }> {
  const read = async () => {
    let text = '';
    let size = 0;
    const decoder = new TextDecoder();
    for await (const piece of pieces) {
      size += piece.length;
      text += decoder.decode(piece, { stream: true });
      if (size >= mostShown) break;
    }
    return { text, size };
  };
  return ResultAsync.fromPromise(read(), (error) => ({
    type: 'not_read',
    message: error instanceof Error ? error.message : 'it cannot be read',
  }));
}
