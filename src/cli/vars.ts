const prefix = 'MEDIABATCH_VAR_';

/** Collects values for declared variables: `--var name=value` overrides `MEDIABATCH_VAR_name`. */
export function collectVars(given: Record<string, string> | undefined): Record<string, string> {
  const vars: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (name.startsWith(prefix) && value !== undefined) vars[name.slice(prefix.length)] = value;
  }
  return { ...vars, ...given };
}
