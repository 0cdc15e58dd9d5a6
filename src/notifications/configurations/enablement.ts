import { err, ok, type Result } from 'neverthrow';

/**
 * The state of a configuration (notification interface, States and transitions). `verifying` lies between a request and its
 * destination's answer; nothing is stored about it.
 */
export type Enablement =
  | { readonly type: 'none' }
  | { readonly type: 'disabled' }
  | { readonly type: 'enabled' }
  | {
      readonly type: 'verifying';
      readonly from: 'none' | 'disabled' | 'enabled';
      /** Whether the response decides about a change, or is only reported. */
      readonly purpose: 'change' | 'verify';
    };

export type EnablementEvent =
  | { readonly type: 'create'; readonly enabled: boolean; readonly probes: boolean }
  | { readonly type: 'update'; readonly enabled: boolean; readonly probes: boolean }
  | { readonly type: 'verify' }
  | { readonly type: 'answered'; readonly successful: boolean }
  | { readonly type: 'unanswered' };

/** The operation's next actions, in this order. */
type EnablementEffect = 'send_verification' | 'save_changes' | 'store_response' | 'reject';

interface EnablementStep {
  readonly next: Enablement;
  readonly effects: readonly EnablementEffect[];
}

interface EnablementError {
  readonly type: 'invalid_transition';
  readonly state: Enablement['type'];
  readonly event: EnablementEvent['type'];
}

/** The table of the notification interface. `probes`: whether the change needs a verification; e-mail never does. */
export function transitionEnablement(
  current: Enablement,
  event: EnablementEvent,
): Result<EnablementStep, EnablementError> {
  const impossible = err({ type: 'invalid_transition' as const, state: current.type, event: event.type });
  switch (event.type) {
    case 'create':
      return current.type === 'none' ? ok(change('none', event.enabled, event.probes)) : impossible;
    case 'update':
      return current.type === 'disabled' || current.type === 'enabled'
        ? ok(change(current.type, event.enabled, event.probes))
        : impossible;
    case 'verify':
      return current.type === 'disabled' || current.type === 'enabled'
        ? ok({ next: { type: 'verifying', from: current.type, purpose: 'verify' }, effects: ['send_verification'] })
        : impossible;
    case 'answered':
      return current.type === 'verifying' ? ok(answered(current, event.successful)) : impossible;
    case 'unanswered':
      return current.type === 'verifying' ? ok({ next: { type: current.from }, effects: ['reject'] }) : impossible;
  }
}

function change(from: 'none' | 'disabled' | 'enabled', enabled: boolean, probes: boolean): EnablementStep {
  if (enabled && probes) {
    return { next: { type: 'verifying', from, purpose: 'change' }, effects: ['send_verification'] };
  }
  return { next: { type: enabled ? 'enabled' : 'disabled' }, effects: ['save_changes'] };
}

function answered(current: Enablement & { readonly type: 'verifying' }, successful: boolean): EnablementStep {
  if (current.purpose === 'verify') {
    return { next: { type: current.from }, effects: successful ? ['store_response'] : ['store_response', 'reject'] };
  }
  return successful
    ? { next: { type: 'enabled' }, effects: ['save_changes', 'store_response'] }
    : { next: { type: current.from }, effects: ['reject'] };
}
