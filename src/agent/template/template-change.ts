import type { ChangeScript, TaskTemplate } from '../../jobs/document/task-parts.js';
import { type Milliseconds, millisecondsFromNanos } from '../../shared/duration.js';
import { signalName } from '../task/task-plan.js';

/** How a running task is notified of changed templates. */
export interface TemplateChange {
  readonly restart: boolean;
  /** Distinct signals, with `SIG`; empty with a restart. */
  readonly signals: readonly string[];
  /** Empty with a restart. */
  readonly scripts: readonly ChangeScript[];
  /** Upper bound of the random delay before the action. */
  readonly splay: Milliseconds;
}

type Changing = Pick<TaskTemplate, 'ChangeMode' | 'ChangeSignal' | 'ChangeScript' | 'Splay'>;

/** Combines the change modes of the changed templates: a restart replaces all other actions (guide to templates). */
export function templateChange(changed: readonly Changing[]): TemplateChange {
  const acting = changed.filter(({ ChangeMode }) => ChangeMode !== 'noop');
  const restart = acting.some(({ ChangeMode }) => ChangeMode === 'restart');
  const signals = new Set(
    acting.flatMap(({ ChangeMode, ChangeSignal }) => (ChangeMode === 'signal' ? [signalName(ChangeSignal)] : [])),
  );
  const scripts = acting.flatMap(({ ChangeMode, ChangeScript }) =>
    ChangeMode === 'script' && ChangeScript !== null ? [ChangeScript] : [],
  );
  return {
    restart,
    signals: restart ? [] : [...signals],
    scripts: restart ? [] : scripts,
    splay: Math.max(0, ...acting.map(({ Splay }) => millisecondsFromNanos(Splay))),
  };
}
