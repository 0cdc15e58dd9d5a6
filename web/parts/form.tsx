import type { ComponentChildren } from 'preact';
import { visible } from '../rules/safe-text.js';
import { Text } from './text.js';

interface FieldProps {
  /** The ID of the control. */
  readonly id: string;
  readonly label: ComponentChildren;
  readonly hint?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A control below its label; the hint has the ID of the control with `-hint`. */
export function Field({ id, label, hint, children }: FieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {hint !== undefined && <small id={`${id}-hint`}>{hint}</small>}
    </div>
  );
}

interface TextFieldProps extends Omit<FieldProps, 'children'> {
  readonly value: string;
  readonly set: (value: string) => void;
  /** Characters. */
  readonly most?: number;
}

export function TextField({ value, set, most, ...field }: TextFieldProps) {
  return (
    <Field {...field}>
      <input
        id={field.id}
        value={value}
        maxLength={most}
        aria-describedby={field.hint === undefined ? undefined : `${field.id}-hint`}
        onInput={(event) => set(event.currentTarget.value)}
      />
    </Field>
  );
}

/** A value, and what it is called if that differs. */
export type Option = string | readonly [value: string | number, label: string];

/** A word of the interface as an option: `timed_out`. */
export function withBlanks(word: string): Option {
  return [word, word.replaceAll('_', ' ')];
}

interface ChoiceProps {
  readonly label: ComponentChildren;
  readonly options: readonly Option[];
  /** The chosen one; when absent, the browser keeps it. */
  readonly value?: string | number | undefined;
  readonly change: (value: string) => void;
  readonly disabled?: boolean;
}

/** A choice of one beside its label. */
export function Choice({ label, ...select }: ChoiceProps) {
  return (
    <label>
      {label} <Select {...select} />
    </label>
  );
}

export function Select({
  options,
  value,
  change,
  disabled,
  id,
}: Omit<ChoiceProps, 'label'> & { readonly id?: string }) {
  return (
    <select id={id} value={value} disabled={disabled} onChange={(event) => change(event.currentTarget.value)}>
      {options.map((option) => {
        const [each, label] = typeof option === 'string' ? [option, option] : option;
        return (
          <option key={each} value={each}>
            {visible(label)}
          </option>
        );
      })}
    </select>
  );
}

/** Why something was not done; nothing for no message. */
export function FailureNote({ of, lead = '' }: { readonly of: string; readonly lead?: string }) {
  if (of === '') return null;
  return (
    <p class="notice failed" role="alert">
      {lead}
      <Text of={of} />
    </p>
  );
}

export type Fact = readonly [name: ComponentChildren, value: ComponentChildren];

/** Names with their values. What is left out is false. */
export function Facts({ of, style = '' }: { readonly of: readonly (Fact | false)[]; readonly style?: string }) {
  return (
    <dl class={`facts ${style}`}>
      {of.map(
        (fact) =>
          fact !== false && (
            <>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </>
          ),
      )}
    </dl>
  );
}
