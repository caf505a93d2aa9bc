import { galleryInPage } from './gallery/data.ts';
import { openGallery } from './gallery/open.ts';
import { startPage } from './start.tsx';

startPage(galleryInPage, openGallery);
