import { okAsync, type ResultAsync } from 'neverthrow';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { box, messageOf, type ValueOf } from '../../app/engine.js';
import { useKey } from '../../app/keys.js';
import { useRead } from '../../app/read.js';
import { may, mayEdit, namespaceNames } from '../../app/rights.js';
import { addressOf, guardLeaving, Link, navigate, place } from '../../app/router.js';
import { Screen } from '../../app/shell.js';
import { serverNow, Time } from '../../app/time.js';
import { Choice, FailureNote } from '../../parts/form.js';
import { save } from '../../parts/save.js';
import { Highlighted, offsetOf, SourceField, type SourceFieldHandle } from '../../parts/source.js';
import { Copy, Text } from '../../parts/text.js';
import { announce } from '../../parts/toasts.js';
import { View } from '../../parts/view.js';
import { counted, durationText } from '../../rules/durations.js';
import { changedJob, changeFrom, type GroupChange, replacements, sizeOf, stepsOf } from '../../rules/group-change.js';
import { SimulateJob } from '../what-if.js';
import { Diff } from './diff.js';
import { documentOf, type Job, type JobDocument, type JobFacts } from './job.js';
import { Rate } from './schedule.js';

/** The source of a version: as it was submitted, or the job as JSON. */
interface Source {
  readonly text: string;
  readonly format: 'hcl' | 'json';
  readonly variables: string;
}

type Failure = { readonly type: string };

function sourceOf(namespace: string, id: string, version: number, job: Job): ResultAsync<Source, Failure> {
  const asJson: Source = { text: JSON.stringify({ Job: job }, null, 2), format: 'json', variables: '' };
  return box.jobs
    .submission(id, version, { namespace })
    .map(({ value }): Source => {
      if (value == null) return asJson;
      const flags = Object.entries(value.VariableFlags ?? {}).map(
        ([name, given]) => `${name} = ${JSON.stringify(given)}`,
      );
      return {
        text: value.Source,
        format: value.Format === 'json' ? 'json' : 'hcl',
        variables: [...flags, value.Variables].filter((part) => part !== '').join('\n'),
      };
    })
    .orElse(() => okAsync(asJson));
}

/** The definition as it was submitted, and as JSON. */
export function DefinitionTab({ namespace, id, job }: JobFacts) {
  const version = Number(place.value.query.get('version') ?? job.Version);
  const isJson = place.value.query.get('as') === 'json';
  const source = useRead(`source:${namespace}/${id}:${version}:${isJson}`, {
    topics: ['Job'],
    read: ({ signal }) =>
      isJson && version === job.Version
        ? okAsync<Source, Failure>({ text: JSON.stringify(job, null, 2), format: 'json', variables: '' })
        : versionOf(namespace, id, version, signal).andThen((found) => sourceOf(namespace, id, version, found ?? job)),
  });
  const name = `${id.replaceAll(/[^\w.-]+/g, '-')}.v${version}`;
  return (
    <View reading={source} what="the definition" needs={`read-job in ${namespace}`}>
      {({ text, format, variables }) => (
        <>
          <div class="toolbar">
            <span>
              v{version}, {format === 'hcl' ? 'as it was submitted' : 'as JSON'}
            </span>
            <Link
              to={addressOf(['jobs', namespace, id, 'definition'], {
                version: version === job.Version ? undefined : String(version),
                as: isJson ? undefined : 'json',
              })}
            >
              {isJson ? 'As submitted' : 'As JSON'}
            </Link>
            <Copy value={text} what="the definition" label="Copy" />
            <Download text={text} name={`${name}.${format === 'hcl' ? 'nomad.hcl' : 'json'}`} />
            {mayEdit(namespace) && (
              <Link class="button" to={addressOf(['jobs', 'new'], { copy: id, ns: namespace })}>
                Clone…
              </Link>
            )}
          </div>
          {variables !== '' && (
            <details>
              <summary>Variables</summary>
              <pre>
                <Text of={variables} />
              </pre>
            </details>
          )}
          <pre class="panel" tabIndex={0}>
            <Highlighted source={text} />
          </pre>
        </>
      )}
    </View>
  );
}

function versionOf(
  namespace: string,
  id: string,
  version: number,
  signal: AbortSignal,
): ResultAsync<Job | undefined, Failure> {
  return box.jobs
    .versions(id, { namespace, signal })
    .map(({ value }) => value.versions.find(({ Version }) => Version === version));
}

function Download({ text, name }: { readonly text: string; readonly name: string }) {
  return (
    <button type="button" onClick={() => save(text, name)}>
      Download
    </button>
  );
}

/**
 * The source with a change that was tried. In a job file it is made at the one place at which its parser then finds it; where there is none, as
 * for a value by default or of a variable, the source becomes JSON.
 */
async function withChange(base: Source, change: GroupChange, namespace: string, job: Job): Promise<Source> {
  const asJson = (of: JobDocument): Source => ({
    text: JSON.stringify({ Job: changedJob(of, change) }, null, 2),
    format: 'json',
    variables: '',
  });
  const before = (await parsed(base, namespace)).job;
  if (before === undefined || base.format === 'json') return asJson(before ?? documentOf(job));
  let made = base;
  let wanted = before;
  for (const { attribute, from, to, change: one } of stepsOf(change, sizeOf(before, change.group))) {
    wanted = changedJob(wanted, one);
    const found = await firstThat(
      replacements(made.text, attribute, from, to).map((text) => ({ ...made, text })),
      async (candidate) => isSame((await parsed(candidate, namespace)).job, wanted),
    );
    if (found === undefined) return asJson(documentOf(job));
    made = found;
  }
  return made;
}

async function firstThat<T>(list: readonly T[], test: (each: T) => Promise<boolean>): Promise<T | undefined> {
  for (const each of list) if (await test(each)) return each;
  return undefined;
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** What a person is writing, by job, for as long as the tab is open. */
const drafts = new Map<string, Source>();

const example = `job "hello" {
  type = "batch"

  group "main" {
    task "say" {
      driver = "raw_exec"
      config {
        command = "/bin/echo"
        args    = ["hello"]
      }
    }
  }
}
`;

/** The form for a new job, empty or with the definition of another one. */
export function NewJobScreen() {
  const copied = place.value.query.get('copy') ?? undefined;
  const namespace = place.value.query.get('ns') ?? undefined;
  return (
    <Screen title="Run a job" crumbs={[{ label: 'Jobs', to: addressOf(['jobs']) }]}>
      {copied === undefined ? (
        <Editor
          draftKey="new"
          base={{ text: example, format: 'hcl', variables: '' }}
          namespace={namespace}
          of={undefined}
        />
      ) : (
        <Copied namespace={namespace ?? 'default'} id={copied} />
      )}
    </Screen>
  );
}

function Copied({ namespace, id }: { readonly namespace: string; readonly id: string }) {
  return (
    <WithSource namespace={namespace} id={id}>
      {(base) => <Editor draftKey={`copy of ${namespace}/${id}`} base={base} namespace={namespace} of={undefined} />}
    </WithSource>
  );
}

/** The form for the next version of a job. */
export function EditJobScreen({ namespace, id }: { readonly namespace: string; readonly id: string }) {
  return (
    <Screen
      title={`Edit ${id}`}
      crumbs={[
        { label: 'Jobs', to: addressOf(['jobs']) },
        { label: namespace, to: addressOf(['jobs'], { ns: namespace }) },
        { label: id, to: addressOf(['jobs', namespace, id]) },
      ]}
    >
      <WithSource namespace={namespace} id={id}>
        {(base, job) => <Editor draftKey={`${namespace}/${id}`} base={base} namespace={namespace} of={job} />}
      </WithSource>
    </Screen>
  );
}

interface WithSourceProps {
  readonly namespace: string;
  readonly id: string;
  readonly children: (base: Source, job: Job) => ComponentChildren;
}

function WithSource({ namespace, id, children }: WithSourceProps) {
  const base = useRead(`edit:${namespace}/${id}`, {
    read: ({ signal }) =>
      box.jobs
        .read(id, { namespace, signal })
        .andThen(({ value: job }) =>
          job === undefined
            ? okAsync(undefined)
            : sourceOf(namespace, id, job.Version, job).map((source) => ({ source, job })),
        ),
  });
  return (
    <View reading={base} what="the job" needs={`read-job in ${namespace}`}>
      {({ source, job }) => children(source, job)}
    </View>
  );
}

interface EditorProps {
  readonly draftKey: string;
  readonly base: Source;
  /** Where the job is registered; the document decides when absent. */
  readonly namespace: string | undefined;
  /** The job whose next version is written; undefined for a new one. */
  readonly of: Job | undefined;
}

interface Problem {
  readonly message: string;
  /** Of the source, from 1; absent for faults of the job as a whole. */
  readonly line?: number;
  readonly column?: number;
  readonly end?: { readonly line: number; readonly column: number };
  readonly suggestion?: string;
}

interface Planned {
  readonly plan: ValueOf<typeof box.jobs.plan>;
  readonly job: JobDocument;
  readonly namespace: string;
  /** Of what was planned. */
  readonly source: Source;
  /** By the server's clock. */
  readonly at: number;
}

/** A source, its problems, and its plan. Only the plan that is shown can be applied. */
function Editor({ draftKey, base, namespace, of }: EditorProps) {
  const [source, setSource] = useState<Source>(drafts.get(draftKey) ?? base);
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  const [specs, setSpecs] = useState<readonly string[]>([]);
  const [planned, setPlanned] = useState<Planned | undefined>(undefined);
  const [failure, setFailure] = useState('');
  const [note, setNote] = useState('');
  const [isBusy, setBusy] = useState(false);
  const field = useRef<SourceFieldHandle>(null);
  const isChanged = source.text !== base.text || source.variables !== base.variables;

  const tried = useTriedChange(namespace, of);
  useEffect(() => {
    guardLeaving(
      isChanged ? () => confirm('Leave the page? What you have written stays until this tab is closed.') : undefined,
    );
    return () => guardLeaving(undefined);
  }, [isChanged]);
  const write = (changed: Source): void => {
    drafts.set(draftKey, changed);
    setSource(changed);
  };
  const show = ({ job, problems: found }: Parsed): void => {
    setProblems(found);
    setSpecs(specsIn(job));
  };
  const makeTried = async (): Promise<void> => {
    if (tried === undefined) return;
    const made = await withChange(base, tried.change, tried.namespace, tried.job);
    write(made);
    setNote(
      made.format === base.format
        ? ''
        : 'The change is not one value of the source as it was written, so this is the definition as JSON: comments and variables are not in it.',
    );
    tried.done();
  };
  // A draft is not written over without asking.
  useEffect(() => {
    if (!drafts.has(draftKey)) void makeTried();
  }, []);
  // Problems show while one writes, half a second after the last key.
  useEffect(() => {
    if (!isChanged) return;
    let isLatest = true;
    const check = async (): Promise<void> => {
      const found = await parsed(source, namespace);
      if (isLatest) show(found);
    };
    const timer = setTimeout(() => void check(), 500);
    return () => {
      isLatest = false;
      clearTimeout(timer);
    };
  }, [source]);

  const plan = async (): Promise<void> => {
    setBusy(true);
    setFailure('');
    const read = await parsed(source, namespace);
    show(read);
    if (read.job !== undefined) {
      const where = read.job.Namespace ?? namespace ?? 'default';
      const answered = await box.jobs.plan(read.job.ID ?? '', read.job, { namespace: where, diff: true, seal: true });
      if (answered.isErr()) {
        setProblems(problemsOf(answered.error));
        setFailure(messageOf(answered.error));
        setPlanned(undefined);
      } else setPlanned({ plan: answered.value, job: read.job, namespace: where, source, at: serverNow.peek() });
    } else setPlanned(undefined);
    setBusy(false);
  };
  const apply = async (): Promise<void> => {
    if (planned === undefined) return;
    setBusy(true);
    setFailure('');
    const {
      job,
      plan: { seal },
      namespace: where,
    } = planned;
    const registered = await box.jobs.register(job, {
      namespace: where,
      seal,
      submission: {
        Source: planned.source.text,
        Format: planned.source.format === 'hcl' ? 'hcl2' : 'json',
        Variables: planned.source.variables,
      },
    });
    setBusy(false);
    if (registered.isErr()) {
      setFailure(messageOf(registered.error));
      setPlanned(undefined);
      return;
    }
    drafts.delete(draftKey);
    guardLeaving(undefined);
    announce(`${job.ID ?? 'The job'} is registered`);
    navigate(addressOf(['jobs', where, job.ID ?? '']));
  };
  useKey('ctrl enter', () => void plan());
  const isCurrent =
    planned !== undefined && planned.source.text === source.text && planned.source.variables === source.variables;
  const go = ({ line = 1, column = 1 }: Problem): void => field.current?.select(line, column);
  const fix = (problem: Problem): void => {
    const { line = 1, column = 1, end = { line, column }, suggestion = '' } = problem;
    const from = offsetOf(source.text, line, column);
    const to = offsetOf(source.text, end.line, end.column);
    write({ ...source, text: source.text.slice(0, from) + suggestion + source.text.slice(to) });
  };
  return (
    <div class="editor">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void plan();
        }}
      >
        <div class="toolbar">
          <FormatChoice source={source} write={write} />
          {of !== undefined && <span class="hint">base v{of.Version}</span>}
          {isChanged && (
            <button type="button" class="quiet" onClick={() => write(base)}>
              Discard the changes
            </button>
          )}
          <button type="submit" class={isCurrent ? '' : 'primary'} disabled={isBusy}>
            Plan <kbd>Ctrl Enter</kbd>
          </button>
        </div>
        {note !== '' && source.format !== base.format && <p class="notice waiting">{note}</p>}
        {tried !== undefined && (
          <p class="notice">
            {isChanged ? 'There is a draft of this job.' : 'The change that you tried is being made…'}{' '}
            <button type="button" onClick={() => void makeTried()}>
              Use the change that you tried instead
            </button>
          </p>
        )}
        <SourceField
          handle={field}
          text={source.text}
          label="Job specification"
          problems={problems}
          describedBy="problems"
          changed={(text) => write({ ...source, text })}
          plan={() => void plan()}
          fix={fix}
        />
        <Problems problems={problems} go={go} fix={fix} />
        {specs.length > 0 && <Rate specs={specs} />}
        <details open={source.variables !== ''}>
          <summary>Variables</summary>
          <label class="sr" for="variables">
            Values of variables
          </label>
          <textarea
            id="variables"
            rows={4}
            spellcheck={false}
            value={source.variables}
            placeholder='name = "value"'
            onInput={(event) => write({ ...source, variables: event.currentTarget.value })}
          />
        </details>
      </form>
      <section class="panel" aria-label="Plan">
        <h2>Plan</h2>
        <FailureNote of={failure} />
        {planned === undefined && (
          <p class="hint">
            A plan shows what would change and where allocations would run. Nothing is stored before it is applied.
          </p>
        )}
        {planned !== undefined && (
          <>
            <p class="hint">
              Made {durationText(Math.max(0, serverNow.value - planned.at))} ago.{' '}
              {isCurrent
                ? 'It is applied only if nothing that it relied on has changed.'
                : 'The source has changed since: plan again.'}
            </p>
            <div class="actions">
              <button
                type="button"
                class="primary"
                disabled={!isCurrent || isBusy || !may('jobs.register', planned.namespace)}
                onClick={() => void apply()}
              >
                Apply this plan
              </button>
            </div>
            <PlanView plan={planned.plan} />
            <SimulateJob key={planned.plan.seal} job={planned.job} namespace={planned.namespace} />
          </>
        )}
      </section>
    </div>
  );
}

/** The change of the address that is still to be made in the source. */
function useTriedChange(namespace: string | undefined, job: Job | undefined) {
  const [isDone, setDone] = useState(false);
  const change = changeFrom(place.value.query);
  if (isDone || change === undefined || job === undefined || namespace === undefined) return undefined;
  return { change, namespace, job, done: () => setDone(true) };
}

function FormatChoice({ source, write }: { readonly source: Source; readonly write: (source: Source) => void }) {
  return (
    <Choice
      label="Format"
      value={source.format}
      change={(format) => write({ ...source, format: format === 'json' ? 'json' : 'hcl' })}
      options={[
        ['hcl', 'HCL'],
        ['json', 'JSON'],
      ]}
    />
  );
}

interface ProblemsProps {
  readonly problems: readonly Problem[];
  readonly go: (problem: Problem) => void;
  readonly fix: (problem: Problem) => void;
}

function Problems({ problems, go, fix }: ProblemsProps) {
  const fixable = problems.find(({ suggestion }) => suggestion !== undefined);
  useKey('f', fixable === undefined ? undefined : () => fix(fixable));
  return (
    <ul id="problems" aria-live="polite">
      {problems.map((problem) => (
        <li class="line" key={`${problem.line}:${problem.column} ${problem.message}`}>
          <span class="mark failed" aria-hidden="true">
            ✕
          </span>
          {problem.line !== undefined && (
            <button type="button" class="quiet" onClick={() => go(problem)}>
              {problem.line}:{problem.column}
            </button>
          )}
          <span class="what">
            <Text of={problem.message} />
          </span>
          {problem.suggestion !== undefined && (
            <button type="button" onClick={() => fix(problem)}>
              Use “<Text of={problem.suggestion} />”
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

function PlanView({ plan }: { readonly plan: ValueOf<typeof box.jobs.plan> }) {
  const failed = Object.entries(plan.failedPlacements ?? {});
  return (
    <div class="stack">
      {plan.warnings !== '' && (
        <p class="notice waiting">
          <Text of={plan.warnings} />
        </p>
      )}
      {failed.length > 0 && (
        <div class="notice waiting">
          {failed.map(([group, metric]) => (
            <p key={group}>
              <Text of={group} />: {counted(metric.CoalescedFailures + 1, 'allocation')} would wait for room.
            </p>
          ))}
        </div>
      )}
      {plan.nextPeriodicLaunch !== null && (
        <p>
          Next launch <Time at={plan.nextPeriodicLaunch} />
        </p>
      )}
      {plan.diff !== null && <Diff diff={plan.diff} />}
      {plan.diff !== null && <Copy value={JSON.stringify(plan.diff, null, 2)} what="the plan" label="Copy the plan" />}
    </div>
  );
}

/** The job that a source describes, or its problems. */
interface Parsed {
  readonly job?: JobDocument;
  readonly problems: readonly Problem[];
}

/** The expressions of a job as it was written, which may be wrong in every way. */
function specsIn(job: JobDocument | undefined): readonly string[] {
  const { Spec, Specs }: { readonly Spec?: unknown; readonly Specs?: unknown } = Object(job?.Periodic);
  return [Spec, ...(Array.isArray(Specs) ? Specs : [])].filter((spec) => typeof spec === 'string' && spec !== '');
}

async function parsed(source: Source, namespace: string | undefined): Promise<Parsed> {
  if (source.format === 'json') return fromJson(source.text);
  const where = namespace ?? (may('jobs.parse', 'default') ? 'default' : (namespaceNames.peek()[0] ?? 'default'));
  const read = await box.jobs.parse(source.text, {
    namespace: where,
    canonicalize: false,
    ...(source.variables === '' ? {} : { variables: source.variables }),
  });
  if (read.isErr()) return { problems: problemsOf(read.error) };
  const job = read.value.job as JobDocument;
  return { job: namespace === undefined ? job : { Namespace: namespace, ...job }, problems: [] };
}

function fromJson(text: string): Parsed {
  try {
    const read = JSON.parse(text) as { readonly Job?: JobDocument } & JobDocument;
    return { job: read.Job ?? read, problems: [] };
  } catch (error) {
    const position = /position (\d+)/.exec(String(error))?.[1];
    const before = position === undefined ? [] : text.slice(0, Number(position)).split('\n');
    const where = position === undefined ? {} : { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
    return { problems: [{ message: error instanceof Error ? error.message : 'invalid JSON', ...where }] };
  }
}

interface Diagnosed {
  readonly type: string;
  readonly diagnostics?: readonly {
    readonly message: string;
    readonly detail?: string;
    readonly suggestion?: string;
    readonly severity: string;
    readonly file: string;
    readonly start: { readonly line: number; readonly column: number };
    readonly end: { readonly line: number; readonly column: number };
  }[];
  readonly errors?: readonly string[];
}

function problemsOf(error: Diagnosed): readonly Problem[] {
  if (error.diagnostics !== undefined)
    return error.diagnostics.map(({ message, detail, suggestion, start, end }) => ({
      message: detail === undefined ? message : `${message}: ${detail}`,
      line: start.line,
      column: start.column,
      end,
      ...(suggestion === undefined ? {} : { suggestion }),
    }));
  return (error.errors ?? [messageOf(error)]).map((message) => ({ message }));
}
