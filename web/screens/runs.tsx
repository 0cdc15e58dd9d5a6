import { box } from '../app/engine.js';
import { useRead } from '../app/read.js';
import { addressOf, Link, place, setQuery } from '../app/router.js';
import { Screen } from '../app/shell.js';
import { Time } from '../app/time.js';
import { Mark, StatusMark } from '../parts/marks.js';
import { LongText, Text } from '../parts/text.js';
import { View } from '../parts/view.js';
import { comparedRows, type KnownRun, versionOf } from '../rules/compare-runs.js';
import { instanceOf, jobOfRun, narrowed, subjectText } from '../rules/timeline.js';
import { Compared } from './job/versions.js';
import { readJobPart } from './timeline-records.js';

interface RunProps {
  readonly namespace: string;
  readonly job: string;
  readonly instance: string;
}

/** One run: its input and how it ended; beside another run of the job when the address names one. */
export function RunScreen({ namespace, job, instance }: RunProps) {
  const other = place.value.query.get('with') ?? '';
  const runs = useRead(`run:${JSON.stringify([namespace, job, instance, other])}`, {
    topics: ['Job', 'Allocation'],
    read: ({ signal }) => {
      const first = readRun({ namespace, job, instance }, signal);
      // Of the run that was opened it is said that it is gone; of the other one beside it.
      return other === ''
        ? first.map((run) => run && [run])
        : first.andThen((run) =>
            readRun({ namespace, job, instance: other }, signal).map((beside) => run && [run, beside]),
          );
    },
  });
  return (
    <Screen
      title={other === '' ? `Run ${instance}` : `Runs ${instance} and ${other}`}
      crumbs={[
        { label: 'Jobs', to: addressOf(['jobs']) },
        { label: job, to: addressOf(['jobs', namespace, job]) },
        { label: 'Runs', to: addressOf(['jobs', namespace, job, 'runs']) },
      ]}
    >
      <Other namespace={namespace} job={job} instance={instance} other={other} />
      <View
        reading={runs}
        what="the run"
        needs={`read-job in ${namespace}`}
        gone={
          <p>
            It may have been removed: the latest runs of a job are kept.{' '}
            <Link to={addressOf(['jobs', namespace, job, 'runs'])}>Those that are kept</Link>
          </p>
        }
      >
        {(known) => (
          <Rows namespace={namespace} job={job} names={other === '' ? [instance] : [instance, other]} known={known} />
        )}
      </View>
    </Screen>
  );
}

/** What is known of a run; undefined when nothing is. */
function readRun({ namespace, job, instance }: RunProps, signal: AbortSignal) {
  const { id, number } = jobOfRun(job, instance);
  return readJobPart(namespace, id, { signal, all: number !== undefined }).map((part): KnownRun | undefined => {
    if (part === undefined) return undefined;
    const records = number === undefined ? part.records : narrowed(part.records, number);
    const run = records.runs.at(0);
    if (number !== undefined && run === undefined) return undefined;
    const version = part.jobs.find(({ Version }) => run === undefined || Version === run.version);
    const isCollected = !records.exists || (records.allocations.length === 0 && run?.startedAt !== undefined);
    return { run, job: version, allocations: isCollected ? undefined : records.allocations };
  });
}

/** The choice of the run beside it. */
function Other({ namespace, job, instance, other }: RunProps & { readonly other: string }) {
  const runs = useRead(`runs-of:${namespace}/${job}`, {
    topics: ['Job'],
    read: ({ signal }) => box.jobs.runs({ namespace, jobId: job, perPage: 50, signal }),
  });
  const known = (runs.state.value.value?.items ?? []).map((run) => ({ name: instanceOf(run), run }));
  const others = known.filter(({ name }) => name !== instance);
  return (
    <div class="toolbar">
      <label>
        Compare with{' '}
        <select value={other} onChange={(event) => setQuery({ with: event.currentTarget.value })}>
          <option value="">no other run</option>
          {other !== '' && others.every(({ name }) => name !== other) && <option value={other}>{other}</option>}
          {others.map(({ name, run }) => (
            <option key={name} value={name}>
              {name}, {run.outcome.replaceAll('_', ' ')}
            </option>
          ))}
        </select>
      </label>
      {others.length >= 49 && <span class="hint">The latest 50 runs are listed.</span>}
    </div>
  );
}

interface RowsProps {
  readonly namespace: string;
  readonly job: string;
  readonly names: readonly string[];
  readonly known: readonly (KnownRun | undefined)[];
}

function Rows({ namespace, job, names, known }: RowsProps) {
  const runs = known.filter((run) => run !== undefined);
  const missing = names.filter((_, at) => known[at] === undefined);
  const rows = comparedRows(runs);
  const isPair = runs.length > 1;
  const differing = rows.filter(({ differs }) => differs).length;
  return (
    <div class="stack">
      {missing.map((name) => (
        <p key={name} class="notice waiting">
          Nothing is kept of the run <Text of={name} />.
        </p>
      ))}
      {isPair && (
        <p class="hint" role="status">
          {differing} of {rows.length} rows differ.
        </p>
      )}
      <section class="window scroll" aria-label="Facts of the runs" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">
                <span class="sr">Fact</span>
              </th>
              {isPair && <th scope="col">Same</th>}
              {names
                .filter((_, at) => known[at] !== undefined)
                .map((name, at) => (
                  <th key={name} scope="col">
                    <RunHead namespace={namespace} job={job} name={name} run={runs[at]} />
                  </th>
                ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, values, differs }) => (
              <tr key={name}>
                <th scope="row">
                  <Text of={name} />
                </th>
                {isPair && <td>{differs ? <Mark mark="degraded" word="differs" /> : <SameWord values={values} />}</td>}
                {values.map((value, at) => (
                  <td key={at}>
                    <Value name={name} value={value} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <VersionDiff namespace={namespace} job={job} versions={runs.map(versionOf)} />
    </div>
  );
}

function SameWord({ values }: { readonly values: readonly (string | undefined)[] }) {
  return <span class="secondary">{values.includes(undefined) ? 'not known' : 'same'}</span>;
}

function Value({ name, value }: { readonly name: string; readonly value: string | undefined }) {
  if (value === undefined) return <span class="secondary">not known any more</span>;
  if (value === '') return <span class="secondary">none</span>;
  if (name === 'Outcome') return <StatusMark status={value} />;
  return <LongText of={value} />;
}

interface RunHeadProps {
  readonly namespace: string;
  readonly job: string;
  readonly name: string;
  readonly run: KnownRun | undefined;
}

function RunHead({ namespace, job, name, run }: RunHeadProps) {
  const ended = run?.run;
  return (
    <>
      <Link to={addressOf(['jobs', namespace, jobOfRun(job, name).id])}>
        <Text of={name} />
      </Link>
      <br />
      <small>
        {ended === undefined ? (
          'under way'
        ) : (
          <>
            ended <Time at={ended.endedAt} />
          </>
        )}{' '}
        <Link to={addressOf(['timeline'], { of: subjectText({ type: 'run', namespace, job, instance: name }) })}>
          Timeline
        </Link>
        {ended?.failure !== undefined && (
          <>
            {' '}
            <Link to={addressOf(['allocs', ended.failure.allocationId])}>Allocation</Link>
          </>
        )}
      </small>
    </>
  );
}

/** How the versions of the job differ of which the runs are. */
function VersionDiff({
  namespace,
  job,
  versions,
}: {
  readonly namespace: string;
  readonly job: string;
  readonly versions: readonly (number | undefined)[];
}) {
  const [one, other] = versions;
  if (one === undefined || other === undefined || one === other) return null;
  return <Compared namespace={namespace} id={job} older={Math.min(one, other)} newer={Math.max(one, other)} />;
}
