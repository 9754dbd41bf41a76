# SPDX-License-Identifier: Apache-2.0

# PAY_ADD_CFLAGS(VARIABLE, FLAGS): appends each flag that the compiler takes.
AC_DEFUN([PAY_ADD_CFLAGS], [
for pay_flag in $2; do
    AC_MSG_CHECKING([whether $CC takes $pay_flag])
    pay_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS $$1 -Werror $pay_flag"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
        [AC_MSG_RESULT([yes])
         $1="$$1 $pay_flag"],
        [AC_MSG_RESULT([no])])
    CFLAGS=$pay_save_CFLAGS
done
])

# PAY_ADD_LDFLAGS(VARIABLE, FLAGS): appends each flag that the linker takes.
AC_DEFUN([PAY_ADD_LDFLAGS], [
for pay_flag in $2; do
    AC_MSG_CHECKING([whether the linker takes $pay_flag])
    pay_save_LDFLAGS=$LDFLAGS
    LDFLAGS="$LDFLAGS $pay_flag"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
        [AC_MSG_RESULT([yes])
         $1="$$1 $pay_flag"],
        [AC_MSG_RESULT([no])])
    LDFLAGS=$pay_save_LDFLAGS
done
])

# PAY_CHECK_FORTIFY(VARIABLE): asks for the highest _FORTIFY_SOURCE that compiler and libc know (a
# libc that takes 3 for 2 warns), unless the builder's flags already do, or do not optimise.
AC_DEFUN([PAY_CHECK_FORTIFY], [
AC_MSG_CHECKING([for the _FORTIFY_SOURCE to add])
pay_save_CFLAGS=$CFLAGS
pay_fortify=
for pay_level in 3 2; do
    CFLAGS="$pay_save_CFLAGS -Werror"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#if !defined(__OPTIMIZE__) || defined(_FORTIFY_SOURCE)
#error no
#endif
]], [])],
        [CFLAGS="$CFLAGS -D_FORTIFY_SOURCE=$pay_level"
         AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <stdlib.h>]], [])],
            [pay_fortify=$pay_level
             break])])
done
CFLAGS=$pay_save_CFLAGS
AC_MSG_RESULT([${pay_fortify:-none}])
AS_IF([test -n "$pay_fortify"], [$1="$$1 -D_FORTIFY_SOURCE=$pay_fortify"])
])
