import { useEffect, useState } from 'preact/hooks';
import { box, type ValueOf } from '../app/engine.js';
import { addressOf, Link, place, setQuery } from '../app/router.js';
import { Field, TextField } from '../parts/form.js';
import { Mark } from '../parts/marks.js';
import { Text } from '../parts/text.js';
import { firstRules, problemsOf, RulesField } from './access.js';

type Trial = ValueOf<typeof box.policies.try>;

/** The calls of the client by area and name. */
const calls: readonly string[] = Object.entries(box)
  .flatMap(([area, methods]) => Object.keys(methods).map((method) => `${area}.${method}`))
  .sort();

/** Rules against a call: the server answers with the functions that check callers. */
export function TryPolicy() {
  const { query } = place.value;
  const policy = query.get('policy') ?? '';
  const [rules, setRules] = useState(policy === '' ? firstRules : '');
  const [call, setCall] = useState(query.get('call') ?? '');
  const [namespace, setNamespace] = useState(query.get('in') ?? 'default');
  const [name, setName] = useState(query.get('name') ?? '');
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [tried, setTried] = useState<{ readonly trial: Trial; readonly of: string } | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    if (policy === '') return;
    const read = async (): Promise<void> =>
      (await box.policies.read(policy)).match(
        ({ value }) => setRules(value?.Rules ?? ''),
        (error) => setProblems(problemsOf(error)),
      );
    void read();
  }, [policy]);
  const question = JSON.stringify([rules, call, namespace, name]);
  const run = async (event: Event): Promise<void> => {
    event.preventDefault();
    setQuery({ call, in: namespace, name });
    setBusy(true);
    setProblems([]);
    const answered = await box.policies.try({
      ...{ rules, call: call.trim(), namespace: namespace.trim() || 'default' },
      ...(name.trim() === '' ? {} : { name: name.trim() }),
    });
    setBusy(false);
    answered.match(
      (trial) => setTried({ trial, of: question }),
      (error) => {
        setTried(undefined);
        setProblems(problemsOf(error));
      },
    );
  };
  return (
    <>
      <form class="panel form" onSubmit={(event) => void run(event)} noValidate>
        {policy !== '' && (
          <p class="hint">
            The rules of <Link to={addressOf(['access', 'policies', policy])}>{policy}</Link>. Changes here are not
            saved.
          </p>
        )}
        <RulesField
          rows={12}
          value={rules}
          set={setRules}
          problems={problems}
          hint="In the policy language or as JSON."
          lead="It cannot be tried:"
        />
        <Field id="tried-call" label="Call">
          <input
            id="tried-call"
            list="tried-calls"
            autocomplete="off"
            placeholder="jobs.stop"
            value={call}
            onInput={(event) => setCall(event.currentTarget.value)}
          />
          <datalist id="tried-calls">
            {calls.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
        </Field>
        <TextField
          id="tried-namespace"
          label="In the namespace"
          value={namespace}
          set={setNamespace}
          hint="Of the request or of the record that the call is about; * for any."
        />
        <TextField
          id="tried-name"
          label="Node pool, or path of a variable"
          value={name}
          set={setName}
          hint="For calls about one; any when empty."
        />
        <div class="actions">
          <button type="submit" class="primary" disabled={isBusy}>
            Try
          </button>
        </div>
      </form>
      {tried !== undefined && tried.of === question && <Result trial={tried.trial} />}
    </>
  );
}

function Result({ trial: { allowed, rule, requires, isCheckedByOperation } }: { readonly trial: Trial }) {
  return (
    <section class="panel" aria-label="Result">
      <div role="status">
        <p>
          <Mark mark={allowed ? 'good' : 'failed'} word={allowed ? 'Allowed' : 'Refused'} />
        </p>
        <p>{requires}</p>
        <p>
          {rule === undefined ? (
            allowed ? (
              'No single rule decides.'
            ) : (
              'No rule that matches grants it; what no rule grants is refused.'
            )
          ) : (
            <>
              The rule that decides is{' '}
              <code>
                <Text of={rule.name === '' ? rule.block : `${rule.block} "${rule.name}"`} />
              </code>
              , which grants <Text of={rule.grants.join(', ') || 'nothing'} />.
            </>
          )}
        </p>
      </div>
      {isCheckedByOperation && (
        <p class="hint">
          The call checks the right on the record or the document that it is about, and may require further rights.
        </p>
      )}
      <p class="hint">For a caller with these rules alone. The rules of several policies are united.</p>
    </section>
  );
}
