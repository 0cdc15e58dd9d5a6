import { useEffect, useRef, useState } from 'preact/hooks';
import { box, messageOf, type ValueOf } from '../app/engine.js';
import { useRead, useRefresh } from '../app/read.js';
import { may, namespaceNames } from '../app/rights.js';
import { addressOf, arrivals, Link, navigate, place, setQuery } from '../app/router.js';
import { namespaceWanted, Screen } from '../app/shell.js';
import { Time, zone } from '../app/time.js';
import { Entries } from '../parts/entries.js';
import { Choice } from '../parts/form.js';
import { StatusMark } from '../parts/marks.js';
import { Text } from '../parts/text.js';
import { View } from '../parts/view.js';
import {
  type EventRecord,
  instanceOf,
  type JobRecords,
  jobOfRun,
  linesOf,
  type Part,
  type Subject,
  subjectOf,
  subjectOfJob,
  subjectText,
  timelineOf,
} from '../rules/timeline.js';
import { type JobPart, missingText, readEvent, readJobPart, useNotifications, usualMost } from './timeline-records.js';

const mostEntries = 500;

export function TimelineScreen() {
  const of = place.value.query.get('of') ?? '';
  const subject = subjectOf(of);
  const shown = useRef(of);
  useEffect(() => {
    // Another subject is another screen, although only the query differs.
    if (shown.current !== of) arrivals.value += 1;
    shown.current = of;
  }, [of]);
  if (subject === undefined) return <Start asked={of} />;
  if (subject.type === 'event') return <OfEvent key={of} workspace={subject.workspace} id={subject.event} />;
  return <OfJob key={of} subject={subject} />;
}

const start = { label: 'Timeline', to: addressOf(['timeline']) };

function OfJob({ subject }: { readonly subject: Exclude<Subject, { readonly type: 'event' }> }) {
  const { namespace, job } = subject;
  const { id, number } = subject.type === 'run' ? jobOfRun(job, subject.instance) : { id: job, number: undefined };
  return (
    <Screen
      title={`Timeline of ${id}${number === undefined ? '' : `, run ${number}`}`}
      crumbs={[start, { label: job, to: addressOf(['jobs', namespace, job]) }]}
      beside={
        subject.type === 'run' && (
          <Link class="button" to={addressOf(['runs', namespace, job, subject.instance])}>
            The run
          </Link>
        )
      }
    >
      <JobTimeline namespace={namespace} id={id} number={number} />
    </Screen>
  );
}

interface JobTimelineProps {
  readonly namespace: string;
  readonly id: string;
  /** Of the run to which it is narrowed. */
  readonly number?: number | undefined;
  /** The event for which the timeline was opened; it is shown whatever is kept of the job. */
  readonly focus?: EventRecord | undefined;
  /** The ID of the run that the event is about, if it is one of a function. */
  readonly functionRun?: string;
}

function JobTimeline({ namespace, id, number, focus, functionRun = '' }: JobTimelineProps) {
  const job = useRead(`timeline:${namespace}/${id}:${number ?? ''}`, {
    topics: ['Job', 'Allocation', 'Evaluation', 'Deployment'],
    pause: 2000,
    read: ({ signal }) => readJobPart(namespace, id, { signal, all: number !== undefined }),
  });
  const { value, at, error } = job.state.value;
  if (focus !== undefined && value === undefined && (at !== undefined || error !== undefined)) {
    const reason =
      error === undefined ? 'Nothing is kept of its job.' : `Its job could not be read: ${messageOf(error)}`;
    return <Shown events={[focus]} notes={[reason]} focus={focus} />;
  }
  return (
    <View
      reading={job}
      what="the job"
      needs={`read-job in ${namespace}`}
      gone={<p>Neither the job nor a record of its runs is kept: records are collected some time after their end.</p>}
    >
      {(part) =>
        number !== undefined && part.records.runs.every((run) => run.number !== number) ? (
          <div class="state">
            <p>No run with this number is kept.</p>
            <Link to={addressOf(['timeline'], { of: subjectText({ type: 'job', namespace, job: id }) })}>
              The timeline of the job
            </Link>
          </div>
        ) : part.isParent && focus !== undefined ? (
          // Parents of instances have no events: only functions do.
          <>
            <p>
              It is about a run of the function{' '}
              <Link to={addressOf(['functions', namespace, 'runs', functionRun])}>
                <Text of={id} />
              </Link>
              , whose page has its attempts and its log.
            </p>
            <Shown events={[focus]} notes={[]} focus={focus} />
          </>
        ) : part.isParent ? (
          <Shown
            records={part.records}
            events={[]}
            notes={[...part.cuts, 'What was notified of a run is in the timeline of the run.']}
          />
        ) : (
          <WithNotifications part={part} number={number} focus={focus} />
        )
      }
    </View>
  );
}

interface WithNotificationsProps {
  readonly part: JobPart;
  readonly number: number | undefined;
  readonly focus: EventRecord | undefined;
}

function WithNotifications({ part, number, focus }: WithNotificationsProps) {
  const { records } = part;
  const notifications = useNotifications(part, { number, workspace: focus?.workspaceId, ...usualMost });
  const { value, error } = notifications.state.value;
  const events = value?.events ?? [];
  const isMissing = focus !== undefined && events.every(({ id }) => id !== focus.id);
  return (
    <>
      {error !== undefined && (
        <p class="notice waiting" role="alert">
          <Text of={missingText(error)} />{' '}
          <button type="button" onClick={() => void notifications.refresh()}>
            Try again
          </button>
        </p>
      )}
      {value === undefined && error === undefined && <p class="hint">Reading the notifications…</p>}
      <Shown
        records={records}
        run={number}
        events={isMissing ? [...events, focus] : events}
        notes={[...part.cuts, ...(value?.cuts ?? [])]}
        focus={focus}
      />
    </>
  );
}

function OfEvent({ workspace, id }: { readonly workspace: string; readonly id: string }) {
  const event = useRead(`timeline-event:${id}`, { read: ({ signal }) => readEvent(id, signal) });
  const known = event.state.value.value;
  useRefresh(event, known?.attempts.some(({ outcome }) => outcome === 'pending') === true, 3000);
  const address = addressOf(['notify', workspace, 'events', id]);
  return (
    <Screen
      title={`Timeline of ${known?.trigger ?? id}`}
      crumbs={[start, { label: workspace, to: addressOf(['notify', workspace]) }]}
      beside={
        <Link class="button" to={address}>
          The event
        </Link>
      }
    >
      <View
        reading={event}
        what="the event"
        needs="admin or portal on the workspace"
        gone={<Link to={addressOf(['notify', workspace, 'events'])}>The events of the workspace</Link>}
      >
        {(value) => <EventWithJob workspace={workspace} event={value} />}
      </View>
    </Screen>
  );
}

function EventWithJob({
  workspace,
  event,
}: {
  readonly workspace: string;
  readonly event: ValueOf<typeof box.events.show>;
}) {
  if (event.workspaceId !== workspace)
    return (
      <div class="state">
        <p>This workspace has no such event.</p>
      </div>
    );
  const job = jobOfEvent(event.attributes);
  if (job === undefined)
    return <Shown events={[event]} notes={['The event is not about a run of a job.']} focus={event} />;
  if (!may('jobs.read', job.namespace))
    return (
      <Shown events={[event]} notes={[`What happened to its job needs read-job in ${job.namespace}.`]} focus={event} />
    );
  return <JobTimeline {...job} focus={event} functionRun={String(event.attributes['run_id'])} />;
}

function jobOfEvent(attributes: Readonly<Record<string, unknown>>): { namespace: string; id: string } | undefined {
  const of = attributes['run_job'];
  if (typeof of !== 'object' || of === null || !('namespace' in of) || !('id' in of)) return undefined;
  const { namespace, id } = of;
  return typeof namespace === 'string' && typeof id === 'string' ? { namespace, id } : undefined;
}

interface ShownProps {
  readonly records?: JobRecords | undefined;
  readonly run?: number | undefined;
  readonly events: readonly EventRecord[];
  /** What is left out, as sentences. */
  readonly notes: readonly string[];
  readonly focus?: EventRecord | undefined;
}

const parts: Readonly<Record<Part, string>> = {
  job: 'the job and its scheduling',
  work: 'allocations and tasks',
  notifications: 'notifications',
};

function isPart(name: string): name is Part {
  return Object.hasOwn(parts, name);
}

function Shown({ records, run, events, notes, focus }: ShownProps) {
  const wanted = place.value.query.get('show') ?? '';
  const { entries, gaps } = timelineOf({ job: records, run, events });
  const matching = isPart(wanted) ? entries.filter(({ part }) => part === wanted) : entries;
  const { lines, left } = linesOf(matching, mostEntries);
  const unsaid = [
    ...gaps,
    ...notes,
    ...(left > 0
      ? [`${left.toLocaleString('en')} older entries are left out: the newest ${mostEntries} are listed.`]
      : []),
  ];
  return (
    <>
      <div class="toolbar">
        <Choice
          label="Show"
          value={wanted}
          change={(show) => setQuery({ show })}
          options={[['', 'everything'], ...Object.entries(parts)]}
        />
        <span class="hint">Oldest first, in {zone.value}</span>
      </div>
      {lines.length > 0 && (
        <Entries name="Timeline" lines={lines} chosen={focus === undefined ? undefined : `event:${focus.id}`} />
      )}
      {lines.length === 0 && (
        <div class="state">
          {entries.length === 0 ? (
            <p>Nothing of it is kept.</p>
          ) : (
            <>
              <p>Nothing of this kind happened.</p>
              <button type="button" onClick={() => setQuery({ show: undefined })}>
                Show everything
              </button>
            </>
          )}
        </div>
      )}
      {unsaid.length > 0 && (
        <section class="panel" aria-label="Not shown">
          <h2>Not shown</h2>
          <ul>
            {unsaid.map((sentence) => (
              <li key={sentence}>
                <Text of={sentence} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

/** What to make a timeline of: the latest runs, or an ID. */
function Start({ asked }: { readonly asked: string }) {
  return (
    <Screen title="Timeline">
      {asked !== '' && (
        <p class="notice failed" role="alert">
          “<Text of={asked} />” names neither a job, a run nor an event.
        </p>
      )}
      <SubjectForm />
      <h2>Latest runs</h2>
      {may('jobs.read', '*') ? (
        <LatestRuns namespace={namespaceWanted()} />
      ) : (
        <div class="state">
          <p>They need read-job in a namespace.</p>
        </div>
      )}
    </Screen>
  );
}

function SubjectForm() {
  const [failure, setFailure] = useState('');
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const fields = event.currentTarget instanceof HTMLFormElement ? new FormData(event.currentTarget) : new FormData();
    const id = String(fields.get('id') ?? '').trim();
    if (id === '') return setFailure('An ID must be given.');
    if (!/^ne-[^/]+$/.test(id)) return open(subjectOfJob(String(fields.get('namespace') ?? 'default'), id));
    const found = await box.events.show(id);
    found.match(
      ({ workspaceId }) => open({ type: 'event', workspace: workspaceId, event: id }),
      (error) =>
        setFailure(error.type === 'not_found' ? 'There is no such event, or you may not read it.' : messageOf(error)),
    );
  };
  return (
    <form class="toolbar" onSubmit={(event) => void submit(event)} noValidate>
      <label>
        Job, run or event{' '}
        <input
          name="id"
          autocomplete="off"
          placeholder="report, report/dispatch-1…, ne-…"
          aria-invalid={failure !== ''}
        />
      </label>
      <label>
        Namespace{' '}
        <select name="namespace">
          {namespaceNames.value.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" class="primary">
        Show
      </button>
      {failure !== '' && (
        <span role="alert">
          <Text of={failure} />
        </span>
      )}
    </form>
  );
}

function open(subject: Subject): void {
  navigate(addressOf(['timeline'], { of: subjectText(subject) }));
}

function LatestRuns({ namespace }: { readonly namespace: string }) {
  const runs = useRead(`timeline-start:${namespace}`, {
    topics: ['Job'],
    read: ({ signal }) => box.jobs.runs({ namespace, perPage: 20, signal }),
  });
  return (
    <View
      reading={runs}
      what="the runs"
      needs="read-job"
      isEmpty={({ items }) => items.length === 0}
      empty={<p>No run has ended yet. A job or an event has a timeline, too.</p>}
    >
      {({ items }) => (
        <ul class="stack">
          {items.map((run) => (
            <li class="line" key={`${run.namespace} ${run.jobId} ${run.number}`}>
              <StatusMark status={run.outcome} />
              <Link
                class="what"
                to={addressOf(['timeline'], {
                  of: subjectText({
                    type: 'run',
                    namespace: run.namespace,
                    job: run.parentId,
                    instance: instanceOf(run),
                  }),
                })}
              >
                <Text of={run.jobId === run.parentId ? `${run.jobId}, run ${run.number}` : run.jobId} />
              </Link>
              <span>
                ended <Time at={run.endedAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </View>
  );
}
