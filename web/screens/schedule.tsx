import { okAsync } from 'neverthrow';
import { useState } from 'preact/hooks';
import { box, messageOf, type ValueOf } from '../app/engine.js';
import { useRead } from '../app/read.js';
import { may } from '../app/rights.js';
import { addressOf, Link, place, setQuery } from '../app/router.js';
import { namespaceWanted, Screen } from '../app/shell.js';
import { dayOf, Time, zone } from '../app/time.js';
import { StatusMark } from '../parts/marks.js';
import { Text } from '../parts/text.js';
import { View } from '../parts/view.js';
import { counted, durationText } from '../rules/durations.js';
import { Findings, Launches, type Schedule } from './job/schedule.js';

/** Launches of each schedule that the calendar counts. */
const launchesOfEach = 100;

export function ScheduleScreen() {
  const namespace = namespaceWanted();
  const schedules = useRead(`schedules:${namespace}`, {
    topics: ['Job'],
    every: 60_000,
    read: ({ signal }) => box.jobs.schedules({ namespace, launches: launchesOfEach, signal }),
  });
  return (
    <Screen title="Schedule">
      <TryExpression namespace={namespace} />
      <View
        reading={schedules}
        what="the schedules"
        needs="read-job"
        isEmpty={({ schedules: list }) => list.length === 0}
        empty={<p>No job is launched by the clock.</p>}
      >
        {({ schedules: list, isCut }) => (
          <>
            {isCut && <p class="hint">The first {counted(list.length, 'schedule')} are shown; there are more.</p>}
            <Calendar schedules={list} />
          </>
        )}
      </View>
      <FunctionSchedules namespace={namespace} />
    </Screen>
  );
}

const days = 14;

/** The next days, each job in the zone of its schedule. */
function Calendar({ schedules }: { readonly schedules: readonly Schedule[] }) {
  return (
    <section class="scroll">
      <table>
        <caption class="sr">Launches of the next {days} days</caption>
        <thead>
          <tr>
            <th scope="col">Job</th>
            <th scope="col">Expression</th>
            <th scope="col">Past</th>
            <th scope="col">Next</th>
            <th scope="col">Next {days} days</th>
          </tr>
        </thead>
        <tbody>
          {schedules.map((schedule) => (
            <ScheduleRow key={`${schedule.namespace}/${schedule.jobId}`} schedule={schedule} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function ScheduleRow({ schedule }: { readonly schedule: Schedule }) {
  const { namespace, jobId, specs, timeZone, launches, past, findings } = schedule;
  const [next] = launches;
  const marks = findings.filter(({ kind }) => kind !== 'note');
  return (
    <tr>
      <td>
        <Link to={addressOf(['jobs', namespace, jobId, 'schedule'])} data-row-link>
          <Text of={jobId} />
        </Link>
      </td>
      <td>
        <code>
          <Text of={specs.join(' · ')} />
        </code>{' '}
        <small>
          <Text of={timeZone} />
        </small>
        {marks.map(({ kind, message }) => (
          <p key={kind + message} class="waiting">
            ▲ <Text of={message} />
          </p>
        ))}
      </td>
      <td>
        {past.slice(0, 6).map(({ number, outcome }) => (
          <span key={number} title={outcome}>
            <StatusMark status={outcome} />{' '}
          </span>
        ))}
        {past[0]?.startedAt !== undefined && (
          <small>last took {durationText(Date.parse(past[0].endedAt) - Date.parse(past[0].startedAt))}</small>
        )}
      </td>
      <td>{next === undefined ? '–' : <Time at={next.at} />}</td>
      <td>
        <Days launches={launches} timeZone={timeZone} />
      </td>
    </tr>
  );
}

/** Launches by day in the zone of the schedule; days with many are counted. */
function Days({ launches, timeZone }: { readonly launches: Schedule['launches']; readonly timeZone: string }) {
  const byDay = new Map<string, string[]>();
  for (const { at, wallTime } of launches) {
    const day = dayOf(Date.parse(at), timeZone);
    byDay.set(day, [...(byDay.get(day) ?? []), wallTime.slice(11, 16)]);
  }
  const shown = [...byDay].slice(0, days);
  return (
    <span class="chips">
      {shown.map(([day, times]) => (
        <span class="chip" key={day}>
          {day}{' '}
          {times.length > 3
            ? `${times.length}${launches.length === launchesOfEach && day === shown.at(-1)?.[0] ? '+' : ''}×`
            : times.join(' ')}
        </span>
      ))}
    </span>
  );
}

type Tried = ValueOf<typeof box.jobs.trySchedule>;

function TryExpression({ namespace }: { readonly namespace: string }) {
  const spec = place.value.query.get('try') ?? '';
  const timeZone = place.value.query.get('zone') ?? zone.value;
  const [tried, setTried] = useState<Tried | undefined>(undefined);
  const [failure, setFailure] = useState('');
  const where = may('jobs.trySchedule', namespace) ? namespace : undefined;
  if (where === undefined) return null;
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const asked = { try: String(fields.get('spec')), zone: String(fields.get('zone')) };
    setQuery(asked);
    const answered = await (asked.try === ''
      ? okAsync(undefined)
      : box.jobs.trySchedule([asked.try], {
          timeZone: asked.zone,
          launches: 10,
          ...(where === '*' ? {} : { namespace: where }),
        }));
    setTried(answered.unwrapOr(undefined));
    setFailure(answered.isErr() ? messageOf(answered.error) : '');
  };
  return (
    <form class="panel" onSubmit={(event) => void submit(event)}>
      <div class="toolbar">
        <label for="spec">Try an expression</label>
        <input
          id="spec"
          name="spec"
          class="mono"
          defaultValue={spec}
          placeholder="30 2 * * *"
          autocomplete="off"
          spellcheck={false}
        />
        <label>
          in{' '}
          <select name="zone" defaultValue={timeZone}>
            {[...new Set(['UTC', timeZone, ...Intl.supportedValuesOf('timeZone')])].map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
        <button type="submit">Try</button>
      </div>
      {failure !== '' && (
        <p class="notice failed" role="alert">
          <Text of={failure} />
        </p>
      )}
      {tried !== undefined && (
        <div role="status">
          <Findings findings={tried.findings} />
          <Launches launches={tried.launches} />
        </div>
      )}
    </form>
  );
}

/** Cron schedules of functions. */
function FunctionSchedules({ namespace }: { readonly namespace: string }) {
  const functions = useRead(`schedule:functions:${namespace}`, {
    waits: true,
    read: ({ signal, ...how }) => box.functions.list({ namespace, signal, ...how }),
  });
  const rows =
    functions.state.value.value?.items.flatMap((each) => each.schedules.map((schedule) => ({ each, schedule }))) ?? [];
  if (rows.length === 0) return null;
  return (
    <section class="panel">
      <h2>Functions</h2>
      {rows.map(({ each, schedule }, at) => (
        <div class="line" key={at}>
          <Link class="what" to={addressOf(['functions', each.namespace, each.name])}>
            <Text of={each.name} />
          </Link>
          <code>
            <Text of={schedule.schedule} />
          </code>
          <small>
            <Text of={schedule.timeZone} />
          </small>
          <Time at={schedule.nextLaunch} />
        </div>
      ))}
    </section>
  );
}
