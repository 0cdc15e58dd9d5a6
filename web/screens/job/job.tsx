import type { ComponentChildren } from 'preact';
import { box, type ValueOf } from '../../app/engine.js';
import { useKey } from '../../app/keys.js';
import { lazy } from '../../app/lazy.js';
import { type Reading, useRead } from '../../app/read.js';
import { may, mayEdit, mayPurge, mayRunInTasks } from '../../app/rights.js';
import { addressOf, Link, navigate, place } from '../../app/router.js';
import { Screen, Tabs } from '../../app/shell.js';
import { Time } from '../../app/time.js';
import { jobHealth } from '../../job-rules.js';
import { ask } from '../../parts/dialog.js';
import { Field } from '../../parts/form.js';
import { Mark } from '../../parts/marks.js';
import { Text } from '../../parts/text.js';
import { announce } from '../../parts/toasts.js';
import { View } from '../../parts/view.js';
import { counted } from '../../rules/durations.js';
import { DeploymentsTab } from './deployments.js';
import { DispatchForm } from './dispatch.js';
import { DefinitionTab } from './edit.js';
import { EvaluationsTab } from './evaluations.js';
import { OverviewTab } from './overview.js';
import { RunsTab } from './runs.js';
import { ScheduleTab } from './schedule.js';
import { VersionsTab } from './versions.js';

const ActionsTab = lazy(() => import('../terminal.js').then((each) => each.ActionsTab));

export type Job = NonNullable<ValueOf<typeof box.jobs.read>>;

/** A job as a registration takes it. */
export type JobDocument = Parameters<typeof box.jobs.register>[0] & {
  readonly ID?: string;
  readonly Namespace?: string;
};

/** A job that was read as a registration takes it, started. */
export function documentOf(job: Job): JobDocument {
  return { ...job, Stop: false } as JobDocument;
}

/** A job and what its header needs. */
export interface JobFacts {
  readonly namespace: string;
  readonly id: string;
  readonly job: Job;
  readonly statuses: Reading<ValueOf<typeof box.jobs.statusesOf>>;
  readonly summary: Reading<ValueOf<typeof box.jobs.summary>>;
}

const isPeriodic = (job: Job): boolean => job.Periodic != null;
const isParameterized = (job: Job): boolean => job.ParameterizedJob != null && !job.Dispatched;
/** Whether it only launches instances. */
export const isParent = (job: Job): boolean => isPeriodic(job) || isParameterized(job);

export function JobScreen({
  namespace,
  id,
  tab,
}: {
  readonly namespace: string;
  readonly id: string;
  readonly tab: string;
}) {
  const job = useRead(`job:${namespace}/${id}`, {
    topics: ['Job'],
    read: ({ signal }) => box.jobs.read(id, { namespace, signal }),
  });
  const statuses = useRead(`job-status:${namespace}/${id}`, {
    topics: ['Job', 'Allocation', 'Deployment', 'Evaluation'],
    read: ({ signal }) => box.jobs.statusesOf([{ namespace, id }], { namespace, signal, includeChildren: true }),
  });
  const summary = useRead(`job-summary:${namespace}/${id}`, {
    topics: ['Job', 'Allocation', 'Evaluation'],
    read: ({ signal }) => box.jobs.summary(id, { namespace, signal }),
  });
  const known = job.state.value.value;
  const facts: JobFacts | undefined =
    known === undefined ? undefined : { namespace, id, job: known, statuses, summary };
  return (
    <Screen
      title={id}
      crumbs={[
        { label: 'Jobs', to: addressOf(['jobs']) },
        { label: namespace, to: addressOf(['jobs'], { ns: namespace }) },
        ...(known?.ParentID ? [{ label: known.ParentID, to: addressOf(['jobs', namespace, known.ParentID]) }] : []),
      ]}
      beside={facts !== undefined && <Header {...facts} />}
    >
      <View
        reading={job}
        what="the job"
        needs={`read-job in ${namespace}`}
        gone={<GoneJob namespace={namespace} id={id} />}
      >
        {(value) => (
          <>
            <JobTabs namespace={namespace} id={id} job={value} tab={tab} />
            <TabContent tab={tab} facts={{ namespace, id, job: value, statuses, summary }} />
          </>
        )}
      </View>
    </Screen>
  );
}

function GoneJob({ namespace, id }: { readonly namespace: string; readonly id: string }) {
  const parent = /^(.+)\/(?:dispatch|periodic)-/.exec(id)?.[1];
  return (
    <>
      <p>A job that has ended is collected after some hours; the history of its runs stays longer.</p>
      <p class="actions">
        <Link to={addressOf(['jobs', namespace, parent ?? id, 'runs'])}>Its runs</Link>
        {parent !== undefined && (
          <Link to={addressOf(['jobs', namespace, parent])}>
            The parent <Text of={parent} />
          </Link>
        )}
      </p>
    </>
  );
}

function Header({ namespace, id, job, statuses, summary }: JobFacts) {
  const activity = statuses.state.value.value?.items.find((entry) => entry.ID === id);
  const counts = summary.state.value.value;
  const health =
    activity === undefined || counts === undefined
      ? undefined
      : jobHealth(
          {
            Type: job.Type,
            Status: job.Status,
            Stop: job.Stop,
            Periodic: isPeriodic(job),
            ParameterizedJob: isParameterized(job),
            JobSummary: counts,
            ...(activity.Outcome === undefined ? {} : { Outcome: activity.Outcome }),
          },
          { wanted: activity.GroupCountSum, deployment: activity.LatestDeployment },
        );
  const live = activity?.Allocs?.filter(
    ({ ClientStatus }) => ClientStatus === 'running' || ClientStatus === 'pending',
  ).length;
  const isCounted = statuses.state.value.value !== undefined || statuses.state.value.error !== undefined;
  return (
    <>
      {health !== undefined && <Mark {...health} />}
      <span class="secondary">
        <Text of={namespace} /> · {job.Type} · v{job.Version} · registered <Time at={job.SubmitTime} />
      </span>
      <span class="room" />
      <Actions namespace={namespace} id={id} job={job} live={live ?? (activity && 0)} isCounted={isCounted} />
    </>
  );
}

interface ActionsProps {
  readonly namespace: string;
  readonly id: string;
  readonly job: Job;
  /** Undefined when it is not known. */
  readonly live: number | undefined;
  /** False until the first answer. */
  readonly isCounted: boolean;
}

function Actions({ namespace, id, job, live, isCounted }: ActionsProps) {
  const edit = addressOf(['jobs', namespace, id, 'plan']);
  const isEditable = mayEdit(namespace) && !job.Dispatched && job.ParentID === '';
  useKey('e', isEditable ? () => navigate(edit) : undefined);
  return (
    <div class="actions">
      {isEditable && (
        <Link class="button" to={edit}>
          Edit
        </Link>
      )}
      {isParameterized(job) && !job.Stop && may('jobs.dispatch', namespace) && (
        <Link class="button" to={addressOf(['jobs', namespace, id, 'dispatch'])}>
          Dispatch
        </Link>
      )}
      {isPeriodic(job) && !job.Stop && may('jobs.forceLaunch', namespace) && (
        <button type="button" onClick={() => void launch(namespace, id)}>
          Launch now
        </button>
      )}
      {!isParent(job) && live !== undefined && live > 0 && may('jobs.restart', namespace) && (
        <button type="button" onClick={() => askRestart(namespace, id, live)}>
          Restart…
        </button>
      )}
      {job.Stop && job.ParentID === '' && may('jobs.revert', namespace) && (
        <button type="button" onClick={() => void startAgain(namespace, id)}>
          Start again
        </button>
      )}
      {!job.Stop && may('jobs.stop', namespace) && (
        <button type="button" class="danger" disabled={!isCounted} onClick={() => askStop(namespace, id, live)}>
          Stop…
        </button>
      )}
      {job.Stop && mayPurge(namespace) && (
        <button type="button" class="danger" onClick={() => askPurge(namespace, id)}>
          Purge…
        </button>
      )}
    </div>
  );
}

async function launch(namespace: string, id: string): Promise<void> {
  const launched = await box.jobs.forceLaunch(id, { namespace });
  launched.match(
    () => {
      announce('Launched');
      navigate(addressOf(['jobs', namespace, id, 'runs']));
    },
    (error) => announce(`It was not launched: ${'message' in error ? error.message : error.type}`),
  );
}

function askStop(namespace: string, id: string, live: number | undefined): void {
  ask({
    title: `Stop ${id}`,
    body: (
      <p>
        This ends {live === undefined ? 'its allocations' : counted(live, 'allocation')} in <Text of={namespace} />. The
        job and its versions stay until they are collected.
      </p>
    ),
    action: 'Stop',
    isDestructive: true,
    run: () => box.jobs.stop(id, { namespace }),
    after: () =>
      announce(
        `${id} is stopping`,
        may('jobs.revert', namespace) ? { label: 'Undo', run: () => void startAgain(namespace, id) } : undefined,
      ),
  });
}

function askPurge(namespace: string, id: string): void {
  ask({
    title: `Purge ${id}`,
    body: <p>This removes the job, its versions, allocations and the history of its runs. It cannot be undone.</p>,
    action: 'Purge',
    isDestructive: true,
    typed: id,
    run: () => box.jobs.stop(id, { namespace, purge: true }),
    after: () => navigate(addressOf(['jobs'])),
  });
}

/** The newest version that was not stopped becomes the next one, with its source. */
async function startAgain(namespace: string, id: string): Promise<void> {
  const started = await box.jobs
    .versions(id, { namespace })
    .andThen(({ value: { versions } }) =>
      box.jobs.revert(id, versions.find(({ Stop }) => !Stop)?.Version ?? 0, { namespace }),
    );
  started.match(
    () => announce(`${id} is starting again`),
    (error) => announce(`It was not started: ${'message' in error ? error.message : error.type}`),
  );
}

function askRestart(namespace: string, id: string, live: number): void {
  let atOnce = 1;
  ask({
    title: `Restart ${id}`,
    body: (
      <>
        <p>
          Restarts {counted(live, 'allocation')} on their nodes. The server carries it out, also when this page is
          closed.
        </p>
        <Field id="at-once" label="Allocations at a time">
          <input
            id="at-once"
            type="number"
            min={1}
            max={100}
            defaultValue="1"
            onInput={(event) => (atOnce = event.currentTarget.valueAsNumber)}
          />
        </Field>
      </>
    ),
    action: 'Restart',
    run: () => box.jobs.restart(id, { namespace, atOnce }),
    after: () => navigate(addressOf(['jobs', namespace, id])),
  });
}

interface JobTabsProps {
  readonly namespace: string;
  readonly id: string;
  readonly job: Job;
  readonly tab: string;
}

function JobTabs({ namespace, id, job, tab }: JobTabsProps) {
  const to = (name: string): string => addressOf(name === '' ? ['jobs', namespace, id] : ['jobs', namespace, id, name]);
  const shown = (name: string, label: string, isShown = true) => (isShown ? [{ name, label, to: to(name) }] : []);
  return (
    <Tabs
      current={tab}
      tabs={[
        ...shown('', 'Overview'),
        ...shown('runs', 'Runs', isParent(job) || job.Type === 'batch' || job.Type === 'sysbatch'),
        ...shown('schedule', 'Schedule', isPeriodic(job)),
        ...shown('dispatch', 'Dispatch', isParameterized(job) && may('jobs.dispatch', namespace)),
        ...shown('definition', 'Definition'),
        ...shown('versions', 'Versions', job.ParentID === ''),
        ...shown('deployments', 'Deployments', job.Type === 'service'),
        ...shown('actions', 'Actions', declaresActions(job) && mayRunInTasks(namespace)),
        ...shown('evaluations', 'Evaluations', !isParent(job)),
      ]}
    />
  );
}

function declaresActions({ TaskGroups }: Job): boolean {
  return TaskGroups.some(({ Tasks }) => Tasks.some(({ Actions }) => (Actions ?? []).length > 0));
}

function JobActions({ namespace, id, statuses }: JobFacts) {
  const activity = statuses.state.value.value?.items.find((entry) => entry.ID === id);
  const running = (activity?.Allocs ?? []).filter(({ ClientStatus }) => ClientStatus === 'running');
  return (
    <ActionsTab
      namespace={namespace}
      jobId={id}
      allocations={running.map(({ ID, Group }) => ({ id: ID, group: Group, name: ID.slice(0, 8) }))}
    />
  );
}

function TabContent({ tab, facts }: { readonly tab: string; readonly facts: JobFacts }): ComponentChildren {
  if (tab === '') return <OverviewTab {...facts} />;
  if (tab === 'runs') return <RunsTab {...facts} />;
  if (tab === 'schedule') return <ScheduleTab {...facts} />;
  if (tab === 'dispatch') return <DispatchForm {...facts} />;
  if (tab === 'definition') return <DefinitionTab {...facts} />;
  if (tab === 'versions') return <VersionsTab {...facts} range={place.value.path[4]} />;
  if (tab === 'deployments') return <DeploymentsTab {...facts} />;
  if (tab === 'actions') return <JobActions {...facts} />;
  if (tab === 'evaluations') return <EvaluationsTab {...facts} />;
  return <p>There is no view of this name.</p>;
}
