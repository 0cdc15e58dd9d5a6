/** A job belongs to the rule when everything that the rule names matches. */
export interface RunNotificationRule {
  /** Workspace id that receives the run events. */
  readonly workspace: string;
  /** Namespace glob; absent means every namespace. */
  readonly namespace?: string;
  /** Job id glob; a dispatched or periodic run is matched by its parent's id. */
  readonly job?: string;
  /** Meta keys and values that the job must have; a value `*` only asks for the key. */
  readonly meta?: Readonly<Record<string, string>>;
}
