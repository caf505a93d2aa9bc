import { startPage } from './start.tsx';
import { dataInPage } from './state/host.ts';

startPage({ read: dataInPage, loadLater: () => import('./later.ts') });
