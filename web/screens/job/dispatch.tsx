import { useState } from 'preact/hooks';
import { box, messageOf } from '../../app/engine.js';
import { addressOf, navigate, place } from '../../app/router.js';
import { FailureNote, Field } from '../../parts/form.js';
import { Text } from '../../parts/text.js';
import { announce } from '../../parts/toasts.js';
import { bytesText } from '../../rules/durations.js';
import type { Job, JobFacts } from './job.js';

/** The most bytes of a payload. */
const mostPayload = 16 * 1024;

/** The inputs of a new instance: the meta that the job declares, with the values that it has now, and a payload. */
export function DispatchForm({ namespace, id, job }: JobFacts) {
  const declared = job.ParameterizedJob;
  const [failure, setFailure] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [payload, setPayload] = useState(place.value.query.get('payload') ?? '');
  if (declared == null) return <p>The job is not dispatched: its definition has no parameterized block.</p>;
  const required = declared.MetaRequired ?? [];
  const optional = declared.MetaOptional ?? [];
  const takesPayload = declared.Payload !== 'forbidden';
  const bytes = new TextEncoder().encode(payload).length;
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const meta = Object.fromEntries(
      [...required, ...optional]
        .map((name) => [name, String(fields.get(`meta:${name}`) ?? '')])
        .filter(([name, value]) => value !== '' || required.includes(name ?? '')),
    );
    const missing = required.filter((name) => meta[name] === '');
    if (missing.length > 0) return setFailure(`${missing.join(', ')} must be given.`);
    if (declared.Payload === 'required' && payload === '') return setFailure('A payload must be given.');
    if (bytes > mostPayload)
      return setFailure(`The payload has ${bytesText(bytes)}; at most ${bytesText(mostPayload)} are accepted.`);
    const token = String(fields.get('token') ?? '');
    setBusy(true);
    const dispatched = await box.jobs.dispatch(id, {
      namespace,
      meta,
      ...(payload === '' ? {} : { payload: btoa(String.fromCharCode(...new TextEncoder().encode(payload))) }),
      ...(token === '' ? {} : { idempotencyToken: token }),
    });
    setBusy(false);
    dispatched.match(
      ({ dispatchedJobId }) => {
        announce(`${dispatchedJobId} is dispatched`);
        navigate(addressOf(['jobs', namespace, dispatchedJobId]));
      },
      (error) => setFailure(messageOf(error)),
    );
  };
  const field = (name: string, isRequired: boolean) => (
    <div class="field" key={name}>
      <label for={`meta:${name}`}>
        <Text of={name} /> {isRequired ? '' : <small>optional</small>}
      </label>
      <input
        id={`meta:${name}`}
        name={`meta:${name}`}
        defaultValue={place.value.query.get(`meta.${name}`) ?? job.Meta?.[name] ?? ''}
        aria-required={isRequired}
        autocomplete="off"
      />
    </div>
  );
  return (
    <form class="panel" onSubmit={(event) => void submit(event)} noValidate>
      <h2>Dispatch an instance</h2>
      {required.map((name) => field(name, true))}
      {optional.map((name) => field(name, false))}
      {takesPayload && (
        <div class="field">
          <label for="payload">Payload {declared.Payload === 'required' ? '' : <small>optional</small>}</label>
          <textarea
            id="payload"
            rows={6}
            spellcheck={false}
            value={payload}
            onInput={(event) => setPayload(event.currentTarget.value)}
            aria-invalid={bytes > mostPayload}
          />
          <small>
            {bytesText(bytes)} of at most {bytesText(mostPayload)}{' '}
          </small>
          <label>
            From a file{' '}
            <input type="file" onChange={(event) => void event.currentTarget.files?.[0]?.text().then(setPayload)} />
          </label>
        </div>
      )}
      <Field
        id="idempotency"
        label={
          <>
            Idempotency token <small>optional</small>
          </>
        }
        hint="A second dispatch with the same token starts nothing and answers with the first instance."
      >
        <input id="idempotency" name="token" autocomplete="off" aria-describedby="idempotency-hint" />
      </Field>
      <FailureNote of={failure} />
      <button type="submit" class="primary" disabled={isBusy}>
        Dispatch
      </button>
    </form>
  );
}

/** The meta that an instance was dispatched with: the names that its definition declares. */
export function declaredMeta({
  Meta,
  ParameterizedJob,
}: Pick<Job, 'Meta' | 'ParameterizedJob'>): Record<string, string> {
  const names = new Set([...(ParameterizedJob?.MetaRequired ?? []), ...(ParameterizedJob?.MetaOptional ?? [])]);
  return Object.fromEntries(Object.entries(Meta ?? {}).filter(([name]) => names.has(name)));
}
